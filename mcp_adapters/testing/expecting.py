"""What was sent to a server of a test, and what nobody expected of it.

In: requests as they come. Out: a list to make assertions on, and an error for requests without an answer.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from mcp_adapters.errors import UnexpectedRequestError
from mcp_adapters.testing.wire import Say, spoken

__all__ = ("Expecting", "Sent", "essential")

UNEXPECTED = -32603
"""The code of the answer to a request that nobody expected ("Internal error" of JSON-RPC)."""


@dataclass(frozen=True, slots=True)
class Sent:
    """One request or notification that came to the server."""

    method: str
    """By the protocol, such as `tools/call`."""
    params: Mapping[str, Any] = field(default_factory=dict)
    """Without `_meta`, which the client fills in."""


def essential(message: Mapping[str, Any]) -> Sent:
    """What a message asks for, without what differs from one client to the next."""
    params = message.get("params") or {}
    return Sent(message["method"], {key: value for key, value in params.items() if key != "_meta"})


class Expecting(ABC):
    """Remembers what was sent, and fails at the end of `with` for what was not expected."""

    def __init__(self) -> None:
        self.sent: list[Sent] = []
        """Everything that came, in order, the handshake included."""
        self._unexpected: list[str] = []

    def __call__(self) -> AbstractAsyncContextManager[tuple[Any, Any]]:
        """A new connection, as a transport of the SDK's kind."""
        return spoken(self._hear)

    async def _hear(self, message: dict[str, Any], say: Say) -> bool:
        if "method" not in message:
            return True
        request = essential(message)
        self.sent.append(request)
        return await self._respond(request, message, say) if "id" in message else True

    @abstractmethod
    async def _respond(self, request: Sent, message: Mapping[str, Any], say: Say) -> bool:
        """Answer a request, or say that the connection ends."""

    @property
    def calls(self) -> list[tuple[str, dict[str, Any]]]:
        """Name and arguments of each `tools/call`, in order."""
        return [
            (str(one.params.get("name")), dict(one.params.get("arguments") or {}))
            for one in self.sent
            if one.method == "tools/call"
        ]

    def check(self) -> None:
        """Fail if something was asked that nobody expected.

        Raises:
            UnexpectedRequestError: With everything that was; once it is told it is forgotten.

        """
        if self._unexpected:
            told, self._unexpected = self._unexpected, []
            raise UnexpectedRequestError("\n".join(told))

    def refuse(self, request: Sent, why: str) -> dict[str, Any]:
        """Remember that a request was not expected, and give the error that answers it.

        Args:
            request: What came.
            why: What there is, or was expected, instead.

        """
        asked = f"{request.method} {dict(request.params)!r}" if request.params else request.method
        text = f"unexpected request: {asked[:500]}; {why}"
        self._unexpected.append(text)
        return {"error": {"code": UNEXPECTED, "message": text}}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.check()
