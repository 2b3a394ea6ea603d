"""What tests of agents and of framework packages need: servers that say what they are told, offline.

In: a script, a queue of answers, or the recorded session of a real server. Out: something to give to a
`Toolbox` as a server, which remembers what it was sent and fails the test for what nobody expected. Also
`FrameworkContract`, the behaviours that every framework package keeps. No test framework is needed.

    from mcp_adapters.testing import ScriptedServer

    server = ScriptedServer()
    server.tool("forecast", "sunny")
    with Toolbox({"weather": server}) as toolbox: ...
"""

from __future__ import annotations

from mcp_adapters.errors import UnexpectedRequestError
from mcp_adapters.testing.answers import Answer, Die, Refuse, Silence, failure, image, said
from mcp_adapters.testing.canned import CannedTransport
from mcp_adapters.testing.contract import FrameworkContract
from mcp_adapters.testing.expecting import Sent
from mcp_adapters.testing.recording import Recording
from mcp_adapters.testing.scripted import ScriptedServer

__all__ = (
    "Answer",
    "CannedTransport",
    "Die",
    "FrameworkContract",
    "Recording",
    "Refuse",
    "ScriptedServer",
    "Sent",
    "Silence",
    "UnexpectedRequestError",
    "failure",
    "image",
    "said",
)
