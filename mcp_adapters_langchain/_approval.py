"""An approval policy for LangChain's agents: which calls interrupt the graph so that a person decides.

In: an `ApprovalPolicy`, and tools or calls. Out: the mapping that `HumanInTheLoopMiddleware` takes, or an
interceptor that interrupts by itself, in any graph. What the policy denies is not offered: give the policy to
the toolbox too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeAlias

from mcp_adapters import (
    ApprovalPolicy,
    CallNext,
    CallRequest,
    Interceptor,
    Tool,
    ToolResult,
)
from mcp_adapters.policy import refused

__all__ = ("APPROVAL", "Choice", "interrupt_first", "interrupt_on")

Choice: TypeAlias = Literal["approve", "edit", "reject"]

APPROVAL = "mcp_approval"
"""The `type` of the value that such an interrupt carries."""


def interrupt_on(
    tools: Iterable[Tool],
    policy: ApprovalPolicy,
    *,
    choices: Sequence[Choice] = ("approve", "edit", "reject"),
) -> dict[str, Any]:
    """Make the argument `interrupt_on` of LangChain's `HumanInTheLoopMiddleware`.

    Args:
        tools: The tools that the agent gets, such as an open toolbox.
        policy: Decides about each tool.
        choices: What the person may do.

    Returns:
        An entry for each tool that the policy asks about, under the name that models see, with a
        description that names the server and why it is asked; False for each that it allows.

    """
    rulings = {tool: policy.of(tool) for tool in tools}
    return {
        tool.name: {
            "allowed_decisions": list(choices),
            "description": f"{tool.id}: {ruling.reason}",
        }
        if ruling.decision != "allow"
        else False
        for tool, ruling in rulings.items()
    }


def interrupt_first(policy: ApprovalPolicy) -> Interceptor:
    """Make an interceptor that interrupts the LangGraph graph before the calls that a person decides about.

    The value of the interrupt has `type` ("mcp_approval"), `server`, `tool`, `name`, `arguments` and
    `reason`. Resume the graph with `{"decision": "approve"}`, `{"decision": "edit", "arguments": {...}}` or
    `{"decision": "reject", "message": "..."}`; anything else counts as a rejection. The node runs again
    from its start when it is resumed; the call is made once, after the decision.

    Args:
        policy: Decides about each call; one that it denies is not made.

    Returns:
        An interceptor for `Toolbox(interceptors=[...])`; calls outside of a graph raise RuntimeError where
        the policy asks.

    """

    def interrupting(request: CallRequest, call_next: CallNext) -> ToolResult:
        from langgraph.types import interrupt

        ruling = policy.of(request)
        if ruling.decision == "allow":
            return call_next(request)
        if ruling.decision == "deny":
            return refused(request.exposed_name, asked=False)
        said = interrupt(
            {
                "type": APPROVAL,
                "server": request.server,
                "tool": request.tool,
                "name": request.exposed_name,
                "arguments": dict(request.arguments),
                "reason": ruling.reason,
            }
        )
        answer = said if isinstance(said, dict) else {"decision": said}
        match answer:
            case {"decision": "approve"}:
                return call_next(request)
            case {"decision": "edit", "arguments": dict(arguments)}:
                return call_next(request.override(arguments=arguments))
        return refused(request.exposed_name, asked=True, message=str(answer.get("message") or ""))

    return interrupting
