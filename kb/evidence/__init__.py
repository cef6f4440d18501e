"""How likely passages answer a question, by words and cosines: what the evidence gate decides by. Pure, no model is asked."""
