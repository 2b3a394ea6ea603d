"""Which calls need a person's word: decided from what the user says and whom the user trusts.

In: a policy, and a tool's server, name and annotations. Out: a decision with its reason, and an
interceptor that asks before the calls that need it. What a server says of its own tools counts only
where the user trusts the server. Nothing here talks to a person: the function that does is given.

Source: MCP 2025-11-25, schema, "ToolAnnotations" ("clients MUST consider tool annotations to be
untrusted unless they come from trusted servers").
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, get_args

from mcp_adapters.errors import ConfigError
from mcp_adapters.filtering import matches
from mcp_adapters.interception import AsyncCallNext, CallNext, CallRequest, Interceptor
from mcp_adapters.spec import ToolAnnotations, ToolResult

__all__ = ("ApprovalPolicy", "Ask", "Decision", "Ruling", "ask_first", "refused")

Decision: TypeAlias = Literal["allow", "ask", "deny"]
"""What happens with a call: it is made, a person is asked first, or the tool is not offered at all."""
Ask: TypeAlias = Callable[[CallRequest], bool | Awaitable[bool]]
"""Asks a person whether a call may be made; synchronous or asynchronous."""


class Ruling(NamedTuple):
    """A decision and what it rests on."""

    decision: Decision
    reason: str


class _Described(Protocol):
    """A tool, a tool's spec or a request: whatever says whose tool it is and what its hints are."""

    @property
    def server(self) -> str: ...
    @property
    def annotations(self) -> ToolAnnotations: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalPolicy:
    """Which tools may be called at once, which after a person's word, and which not at all.

    The first that applies decides: an entry of `overrides`; that the tool only reads; `default`. A tool
    only reads when it matches `reads_only`, or when its server is trusted and says so (`readOnlyHint`).
    Patterns are compared with the server's own name for the tool and with `server:tool`, and are
    written as for `ToolFilter`.

    Args:
        trusted: Keys of the servers whose annotations are believed.
        reads_only: Patterns of tools that only read, by the user's own word.
        overrides: Decision by pattern; a pattern without wildcards comes before those with, and among
            those the last one that matches decides.
        default: For all other tools.

    Raises:
        ConfigError: A decision is not one of "allow", "ask" and "deny".

    """

    trusted: Collection[str] = ()
    reads_only: Collection[str] = ()
    overrides: Mapping[str, Decision] = field(default_factory=dict)
    default: Decision = "ask"

    def __post_init__(self) -> None:
        for name in ("trusted", "reads_only"):
            if isinstance(getattr(self, name), str):
                raise ConfigError(f"{name} takes several names; for one write [{getattr(self, name)!r}]")
        for said in (*self.overrides.values(), self.default):
            if said not in get_args(Decision):
                known = ", ".join(map(repr, get_args(Decision)))
                raise ConfigError(f"a decision is one of {known}, not {said!r}")

    def rule(self, server: str, name: str, annotations: ToolAnnotations) -> Ruling:
        """Decide about one tool.

        Args:
            server: Key of its server.
            name: The server's own name for it.
            annotations: What the server says about it.

        """
        if (pattern := self._override(server, name)) is not None:
            return Ruling(self.overrides[pattern], f"the policy says so for {pattern!r}")
        if (reason := self.reading(server, name, annotations)) is not None:
            return Ruling("allow", reason)
        return Ruling(self.default, "it may do more than read, as far as the policy knows")

    def of(self, tool: _Described) -> Ruling:
        """Decide about a `Tool`, a `ToolSpec` or a `CallRequest`."""
        return self.rule(tool.server, _own_name(tool), tool.annotations)

    def reading(self, server: str, name: str, annotations: ToolAnnotations) -> str | None:
        """Why a tool counts as one that only reads; None when it does not.

        Args:
            server: The server's key.
            name: The server's own name for the tool.
            annotations: What the server says of the tool; believed of `trusted` servers only.

        """
        if any(_fits(pattern, server, name) for pattern in self.reads_only):
            return "the policy says that it only reads"
        if server in self.trusted and annotations.read_only is True:
            return f"the trusted server {server!r} says that it only reads"
        return None

    def _override(self, server: str, name: str) -> str | None:
        fitting = [pattern for pattern in self.overrides if _fits(pattern, server, name)]
        exact = [pattern for pattern in fitting if pattern in (name, f"{server}:{name}")]
        return next(reversed(exact or fitting), None)


def _fits(pattern: str, server: str, name: str) -> bool:
    return matches(pattern, name) or matches(pattern, f"{server}:{name}")


def _own_name(tool: Any) -> str:
    return str(tool.tool if isinstance(tool, CallRequest) else tool.remote_name)


def ask_first(policy: ApprovalPolicy, ask: Ask) -> Interceptor:
    """Make an interceptor that asks a person before the calls for which the policy says so.

    Args:
        policy: Decides about each call anew; one that it denies is not made.
        ask: Gets the request and says whether the call may be made. What it raises passes through,
            and the call is not made.

    Returns:
        An interceptor for `Toolbox(interceptors=[...])`. A call that is not made gives a result with
        `is_error` that tells the model so.

    """
    if inspect.iscoroutinefunction(ask) or inspect.iscoroutinefunction(getattr(ask, "__call__", None)):  # noqa: B004

        async def asking(request: CallRequest, call_next: AsyncCallNext) -> ToolResult:
            ruling = policy.of(request)
            asked = ruling.decision == "ask"
            if ruling.decision == "allow" or (asked and await ask(request) is True):  # type: ignore[misc]
                return await call_next(request)
            return refused(request.exposed_name, asked=asked)

        return asking

    def asking_at_once(request: CallRequest, call_next: CallNext) -> ToolResult:
        ruling = policy.of(request)
        asked = ruling.decision == "ask"
        if ruling.decision == "allow" or (asked and ask(request) is True):
            return call_next(request)
        return refused(request.exposed_name, asked=asked)

    return asking_at_once


def refused(name: str, *, asked: bool, message: str = "") -> ToolResult:
    """The result of a call that was not made.

    Args:
        name: The tool, as models know it.
        asked: Whether a person refused it; else the policy did.
        message: What the person said to it.

    """
    said = f": {message}" if message else ". Do not try it again in another way; ask what to do instead."
    who = "the user did not approve" if asked else "the policy forbids"
    return ToolResult(text=f"{name} was not called: {who} this call{said}", is_error=True)
