"""What the doors (kb mcp, kb serve) share: the knowledge base kept warm for many callers, and who may come in."""
