"""Until its own rules are in, this dialect is the portable one."""

from mcp_adapters.schema.portable import portable as openai_strict
