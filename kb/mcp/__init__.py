"""kb mcp: the library as tools, resources and prompts of the Model Context Protocol. Needs the extra `mcp`."""
