"""Give every tool the name that models see.

In: identities `(server, tool)` - the server's key in the configuration and the server's own name
for the tool, any text - a policy, and the names given earlier. Out: legal names, one for each tool,
with the way back. Equal input gives equal names, in whatever order tools are listed, and no name is
ever decoded: a map leads back.

How a name comes about:

1. Server and tool are joined by the separator. If both have text and the outcome is legal as it is,
   the tool has *needed no change*.
2. Otherwise every illegal character becomes `_`, and `t_` is put before a first character that may
   not be first. A part without any ASCII letter or digit says nothing: of a server it is left out,
   of a tool it becomes `tool` with a hash. What is too long loses from the server's end, then from
   the tool's, and ends in a hash.
3. A name goes to the only tool that wants it. If several do, it goes to the one that needed no
   change; if several needed none (`a` + `b_c`, `a_b` + `c`) it goes to none of them. Whoever goes
   without gets `_` and a hash of its identity: 8 characters, or 16, 26, 52 while that name is wanted
   by others too. A name that was wanted and given to nobody stays unused.
4. Names given earlier stay with their tools, also with tools that are gone. So a server cannot take
   over a name that stands in stored conversations by publishing it as its own.

The hash is the lower-case base32 form (RFC 4648) of the SHA-256 of server, NUL and tool.
"""

from mcp_adapters.naming.assignment import Names, assign_names, rename_map
from mcp_adapters.naming.policy import NamePolicy, server_key
from mcp_adapters.naming.spelling import Identity

__all__ = (
    "Identity",
    "NamePolicy",
    "Names",
    "assign_names",
    "rename_map",
    "server_key",
)
