"""Text → vectors."""
