"""`python -m mcp_adapters`: the same as the command `mcp-adapters`."""

from mcp_adapters.cli import main

if __name__ == "__main__":
    main()
