"""One request and its answer over a session: how long it may take, and the answer as it came.

In: a session and a request. Out: the JSON that came over the wire, or `LinkTimeout`.

The SDK checks an answer as a whole, so one malformed tool loses the whole page and one unknown
content block the whole result. `WireDispatcher` therefore keeps the JSON of such methods aside and
hands the SDK an empty answer to check.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from functools import cache
from typing import Any, Literal, TypeAlias

import anyio
from mcp import ClientSession
from mcp.shared.dispatcher import CallOptions, ProgressFnT
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp_types import Request as AnyRequest
from mcp_types import Result
from mcp_types.methods import MONOLITH_RESULTS
from pydantic import ConfigDict, TypeAdapter

from mcp_adapters._context import mirrored_headers

__all__ = ("LinkTimeout", "Pulse", "Request", "WireDispatcher", "answered", "holding")

Request: TypeAlias = AnyRequest[Any, Any]

_aside: ContextVar[list[dict[str, Any]] | None] = ContextVar("mcp_adapters_aside", default=None)
_COMPLETE = {"resultType": "complete"}
_CACHEABLE = {**_COMPLETE, "ttlMs": 0, "cacheScope": "private"}
_EMPTY: dict[str, dict[str, Any]] = {
    "completion/complete": {"completion": {"values": []}, **_COMPLETE},
    "prompts/get": {"messages": [], **_COMPLETE},
    "prompts/list": {"prompts": [], **_CACHEABLE},
    "resources/list": {"resources": [], **_CACHEABLE},
    "resources/read": {"contents": [], **_CACHEABLE},
    "resources/templates/list": {"resourceTemplates": [], **_CACHEABLE},
    "tools/call": {"content": [], **_COMPLETE},
    "tools/list": {"tools": [], **_CACHEABLE},
}
"""What the SDK gets to check instead of the answer, by method."""
_TASKS = "tasks/"
"""How the methods begin that the SDK does not know."""


class TaskAnswer(Result):
    """What the SDK is told that a call may be answered with, besides its own kinds."""

    model_config = ConfigDict(extra="allow")
    result_type: Literal["task"]


class LinkTimeout(Exception):  # noqa: N818 - a fact for the layer above, not an error of its own
    """No answer in time; the server was told to stop."""

    def __init__(self, limit: Literal["idle", "total"], seconds: float) -> None:
        super().__init__(limit, seconds)
        self.limit: Literal["idle", "total"] = limit
        self.seconds = seconds


class Pulse:
    """The idle time of one request: it begins anew at every sign of life, and can stand still.

    Args:
        idle: Seconds without a sign of life after which the request is given up.

    """

    def __init__(self, idle: float) -> None:
        self.idle = idle
        self.scope = anyio.CancelScope()
        self._holds = 0

    @classmethod
    @contextlib.contextmanager
    def of(cls, pulses: set[Pulse], idle: float) -> Iterator[Pulse]:
        """Keep a pulse among those of a link as long as its request is waited for."""
        pulse = cls(idle)
        pulses.add(pulse)
        try:
            yield pulse
        finally:
            pulses.discard(pulse)

    def beat(self) -> None:
        """Take note of a sign of life."""
        self.scope.deadline = math.inf if self._holds else anyio.current_time() + self.idle

    def hold(self, change: Literal[1, -1]) -> None:
        """Let the time stand still, or let it begin anew when nobody holds it any more."""
        self._holds += change
        self.beat()


@contextlib.contextmanager
def holding(pulses: set[Pulse]) -> Iterator[None]:
    """Let the idle time of these requests stand still: a person is being asked."""
    held = list(pulses)
    for pulse in held:
        pulse.hold(1)
    try:
        yield
    finally:
        for pulse in held:
            pulse.hold(-1)


async def answered(
    session: ClientSession,
    request: Request,
    pulse: Pulse,
    *,
    total: float | None,
    on_progress: ProgressFnT | None,
) -> dict[str, Any]:
    """Send a request over a session, with both limits; arguments and errors as `Link.request`."""
    pulse.beat()
    with anyio.move_on_after(total) as whole, pulse.scope:

        async def beat(progress: float, total: float | None, message: str | None) -> None:
            pulse.beat()
            if on_progress is not None:
                await on_progress(progress, total, message)

        return await _answer(session, request, beat)
    if whole.cancelled_caught and total is not None:
        raise LinkTimeout("total", total)
    raise LinkTimeout("idle", pulse.idle)


@cache
def _answer_of(method: str) -> TypeAdapter[Any]:
    """What the SDK knows as the answer to a method."""
    kind: Any = MONOLITH_RESULTS.get(method, dict[str, Any])
    return TypeAdapter(kind | TaskAnswer if method == "tools/call" else kind)


async def _answer(session: ClientSession, request: Request, on_progress: ProgressFnT) -> dict[str, Any]:
    aside: list[dict[str, Any]] = []
    token = _aside.set(aside)
    try:
        answer = await session.send_request(
            request, _answer_of(request.method), progress_callback=on_progress
        )
    finally:
        _aside.reset(token)
    if aside:
        return aside[0]
    if isinstance(answer, dict):
        return answer
    typed: dict[str, Any] = answer.model_dump(by_alias=True, mode="json", exclude_none=True)
    return typed


class WireDispatcher(JSONRPCDispatcher[Any]):
    """Keeps the JSON of listings and results as it came, and tells when the wire ends."""

    ended: Callable[[], None]

    async def send_raw_request(
        self, method: str, params: Any, opts: CallOptions | None = None, **options: Any
    ) -> dict[str, Any]:
        if method == "server/discover" and opts is not None:
            # The SDK's fixed limit would take a slow modern server for an old one.
            opts.pop("timeout", None)
        if method == "tools/call" and opts is not None and (mirrored := mirrored_headers.get()):
            opts["headers"] = {**opts.get("headers", {}), **mirrored}
        raw = await super().send_raw_request(method, params, opts, **options)
        aside = _aside.get()
        if aside is None or not (method in _EMPTY or method.startswith(_TASKS)):
            return raw
        if raw.get("resultType", "complete") not in ("complete", "task"):
            return raw
        aside.append(raw)
        return dict(_EMPTY.get(method, {}))

    async def run(self, *args: Any, **options: Any) -> None:
        try:
            await super().run(*args, **options)
        finally:
            self.ended()
