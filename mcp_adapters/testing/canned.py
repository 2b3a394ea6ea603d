"""A transport with a queue of answers: every request must be the next one expected.

In: requests that are expected, in order, each with its answer. Out: a server for a `Toolbox` that fails for
anything else, and remembers what was sent. Messages are the protocol's own: nothing is filled in.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mcp_adapters.testing.expecting import Expecting, Sent
from mcp_adapters.testing.wire import Say

__all__ = ("CannedTransport",)


@dataclass(frozen=True, slots=True)
class _Expected:
    method: str
    params: Mapping[str, Any] | None
    outcome: Mapping[str, Any]
    before: tuple[Mapping[str, Any], ...]


class CannedTransport(Expecting):
    """Answers from a queue; use it as a server of a `Toolbox`.

    The handshake of protocol 2025-11-25 is answered without being expected, unless it is queued itself. As
    a context manager it fails at the end for requests that were not expected, and for answers that nobody
    asked for.

    Args:
        capabilities: What the handshake says that the server offers; None means tools.

    """

    def __init__(self, *, capabilities: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        self._capabilities = {"tools": {}} if capabilities is None else dict(capabilities)
        self._queue: deque[_Expected] = deque()

    def expect(
        self,
        method: str,
        result: Mapping[str, Any] | None = None,
        *,
        params: Mapping[str, Any] | None = None,
        error: Mapping[str, Any] | None = None,
        before: tuple[Mapping[str, Any], ...] = (),
    ) -> None:
        """Queue a request and its answer.

        Args:
            method: By the protocol, such as `tools/list`.
            result: The answer's `result`; None means an empty one, unless there is an `error`.
            params: What the request must have as parameters, `_meta` aside; None takes any.
            error: The answer's `error`, instead of a result: `code` and `message`.
            before: Messages that are sent before the answer, such as notifications, as JSON-RPC.

        """
        outcome = {"result": dict(result or {})} if error is None else {"error": dict(error)}
        self._queue.append(_Expected(method, params, outcome, before))

    @property
    def left(self) -> tuple[str, ...]:
        """The methods that are still expected, in order."""
        return tuple(one.method for one in self._queue)

    def check(self) -> None:
        """Fail if something was asked that nobody expected, or was not asked that was.

        Raises:
            UnexpectedRequestError: With all of it.

        """
        if self._queue:
            self._unexpected.append(f"never asked for: {', '.join(self.left)}")
            self._queue.clear()
        super().check()

    async def _respond(self, request: Sent, message: Mapping[str, Any], say: Say) -> bool:
        outcome, before = self._next(request)
        for earlier in before:
            await say(dict(earlier))
        await say({"id": message["id"], **outcome})
        return True

    def _next(self, request: Sent) -> tuple[Mapping[str, Any], tuple[Mapping[str, Any], ...]]:
        expected = self._queue[0] if self._queue else None
        if expected is None or expected.method != request.method:
            greeting = self._greeting(request)
            if greeting is not None:
                return greeting, ()
            wanted = expected.method if expected else "nothing"
            return self.refuse(request, f"the next one expected is {wanted}"), ()
        if expected.params is not None and dict(expected.params) != dict(request.params):
            return self.refuse(request, f"it was expected with {dict(expected.params)!r}"), ()
        self._queue.popleft()
        return expected.outcome, expected.before

    def _greeting(self, request: Sent) -> dict[str, Any] | None:
        if request.method == "server/discover":
            return {"error": {"code": -32601, "message": "Method not found: server/discover"}}
        if request.method != "initialize":
            return None
        info = {"name": "canned", "version": "1"}
        result = {"protocolVersion": "2025-11-25", "capabilities": self._capabilities, "serverInfo": info}
        return {"result": result}
