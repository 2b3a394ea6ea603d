"""Tool definitions that were looked at once, and what has become of them since.

In: what servers list, and the text of a lock file. Out: a lock, its text, and the drift of each tool
that is no longer what it was. Pure: files are read and written by the toolbox and the command line.
"""

from mcp_adapters.lockfile.drifts import Drift, DriftKind, OnDrift, find_drifts
from mcp_adapters.lockfile.locks import LOCK_NAME, Lock, LockedTool, lock_tools, parse_lock
from mcp_adapters.lockfile.schemas import SchemaChange, compare_schemas

__all__ = (
    "LOCK_NAME",
    "Drift",
    "DriftKind",
    "Lock",
    "LockedTool",
    "OnDrift",
    "SchemaChange",
    "compare_schemas",
    "find_drifts",
    "lock_tools",
    "parse_lock",
)
