"""A person's word before a call, asked like a question of a server.

In: a policy and a call. Out: the question, as a `PendingCall`, and what its answer means. So whoever can wait
for the answer to a server's question, also in another process, can wait for this one too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from mcp_adapters.elicitation import PendingCall
from mcp_adapters.errors import InputRequiredError
from mcp_adapters.policy import ApprovalPolicy, refused
from mcp_adapters.spec import CallAnswers, Tool, ToolResult

__all__ = ("APPROVAL", "approval")

APPROVAL = "mcp-adapters/approval"
"""The name of the question; no server's question has it."""
_MAX_ARGUMENTS = 2_000
"""Characters of the arguments that a person is shown."""


def approval(
    policy: ApprovalPolicy, tool: Tool, arguments: Mapping[str, Any], resume: CallAnswers | None
) -> tuple[ToolResult | None, CallAnswers | None]:
    """Decide whether a call is made now.

    Args:
        policy: Decides whether somebody is asked.
        tool: The tool.
        arguments: As the model gave them.
        resume: What the call goes on with; None when it begins.

    Returns:
        The result of a call that is not made, or None; and what the call that is made goes on with.

    Raises:
        InputRequiredError: A person is to be asked: accepting the question approves the call.

    """
    if resume is not None and APPROVAL not in resume.responses:
        return None, resume  # it was approved, and its server asked something since
    ruling = policy.of(tool)
    if ruling.decision == "allow":
        return None, resume
    if ruling.decision == "deny":
        return refused(tool.name, asked=False), None
    if resume is None:
        raise InputRequiredError(
            f"{tool.name} is called only after a person's word: {ruling.reason}",
            server=tool.server,
            tool=tool.remote_name,
            pending=_question(tool, arguments),
        )
    if resume.responses[APPROVAL].get("action") == "accept":
        return None, None
    return refused(tool.name, asked=True), None


def _question(tool: Tool, arguments: Mapping[str, Any]) -> PendingCall:
    written = json.dumps(arguments, ensure_ascii=False, default=str)
    more = len(written) - _MAX_ARGUMENTS
    shown = f"{written[:_MAX_ARGUMENTS]} and {more} more characters" if more > 0 else written
    params = {
        "mode": "form",
        "message": f"Call {tool.name} with {shown}?",
        "requestedSchema": {"type": "object", "properties": {}},
    }
    return PendingCall(server=tool.server, tool=tool.remote_name, asked={APPROVAL: params}, rounds=0)
