"""What servers ask of a person: reading it, checking what is answered, ready handlers, calls that wait.

In: a question of a server and what a person says. Out: frozen values that fit each other. The handlers
here ask on the terminal, or nobody; whoever asks elsewhere writes a function of the same kind.
"""

from __future__ import annotations

from mcp_adapters.elicitation.pending import PendingCall, read_answer, shown
from mcp_adapters.elicitation.reading import check_answer, read_request, secret_fields
from mcp_adapters.elicitation.ready import ask_on_terminal, decline

__all__ = (
    "PendingCall",
    "ask_on_terminal",
    "check_answer",
    "decline",
    "read_answer",
    "read_request",
    "secret_fields",
    "shown",
)
