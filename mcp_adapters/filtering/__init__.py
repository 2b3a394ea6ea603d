"""Which tools of the servers are offered, and the reason for each one that is not.

In: the listings of all servers, filters, and the names that the user requires. Out: the tools that
are kept, in listing order, the others with a reason each, warnings, and what is missing. Filters
see the names that servers gave their tools, byte for byte, never exposed names. Nothing here looks
at a schema, calls a server or fails because of a tool that is left out.
"""

from mcp_adapters.filtering.filters import Predicate, ToolFilter, matches, parse_filter
from mcp_adapters.filtering.requirements import (
    MissingTool,
    closest_names,
    folded_name,
    missing,
    missing_error,
)
from mcp_adapters.filtering.selection import Selection, read_annotations, select

__all__ = (
    "MissingTool",
    "Predicate",
    "Selection",
    "ToolFilter",
    "closest_names",
    "folded_name",
    "matches",
    "missing",
    "missing_error",
    "parse_filter",
    "read_annotations",
    "select",
)
