"""MCP tools as plain Python functions: what the smallest framework package looks like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mcp_adapters import Tool


class PlainFunctions:
    """Makes a function of each tool."""

    name = "plainfunctions"

    def wrap(self, tool: Tool, *, shout: bool = False) -> Callable[..., str]:
        """Make a function that calls the tool and gives its text."""

        def function(**arguments: Any) -> str:
            text = tool.call(arguments).text
            return text.upper() if shout else text

        function.__name__ = tool.name
        return function
