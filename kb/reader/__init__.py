"""A question and texts → how likely each answers it, by a model that reads both together (a cross-encoder)."""
