"""kb serve: the JSON of the command line over HTTP, with MCP beside it. Needs the extra `serve`."""
