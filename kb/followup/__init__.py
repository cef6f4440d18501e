"""A question that leans on earlier ones → the same question, complete, by rules: what is searched for in a conversation."""
