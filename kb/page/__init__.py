"""A page to read in: search, documents, answers, conversations, tags, relations and evaluations as HTML of the server."""
