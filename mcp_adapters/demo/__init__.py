"""Small, complete MCP servers to try the package with: no account, no key, no network."""
