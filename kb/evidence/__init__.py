"""Question and passages → the probability that they answer it, by words and cosines, for the evidence gate. Pure; asks no model."""
