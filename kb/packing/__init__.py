"""Which passages hold together, and which of them to pack: pure decisions over numbers and text."""
