"""A conversation over the knowledge base, turn by turn: the same `ask` underneath, with the session's memory."""
