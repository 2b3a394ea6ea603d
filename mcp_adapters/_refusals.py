"""What a request that only reads was about, and the error for its failure.

In: a request of the protocol and what the SDK raised instead of an answer. Out: an error of
`mcp_adapters.errors` that names the server and the thing. Nothing here waits, retries or raises.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, METHOD_NOT_FOUND

from mcp_adapters._exchange import LinkTimeout, Request
from mcp_adapters._faults import http_failure
from mcp_adapters.errors import (
    McpAdaptersError,
    ProtocolError,
    RequestError,
    RequestTimeoutError,
    ResourceNotFoundError,
)

__all__ = ("Subject",)

_RESOURCE_NOT_FOUND = -32002
"""Until 2025-11-25; from 2026-07-28 on invalid parameters say so (server/resources, "Error Handling")."""
_UNKNOWN = re.compile(r"unknown resource|resource\b.*\bnot found|no such resource", re.IGNORECASE)
"""How servers say it that know no code for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What a request is about."""

    server: str
    method: str
    uri: str | None = None
    prompt: str | None = None
    task: str | None = None

    @classmethod
    def of(cls, server: str, request: Request) -> Subject:
        """The subject of a request."""
        params = request.params
        about = getattr(params, "ref", params)
        return cls(
            server=server,
            method=str(request.method),
            uri=getattr(about, "uri", None),
            prompt=getattr(about, "name", None),
            task=getattr(about, "task_id", None),
        )

    @property
    def words(self) -> str:
        """What to call it in a message."""
        if self.task is not None:
            return f"task {self.task!r}"
        thing = f"prompt {self.prompt!r}" if self.prompt is not None else f"resource {self.uri!r}"
        kinds = {
            "completion/complete": f"a completion for {thing}",
            "resources/subscribe": f"a subscription to {thing}",
            "resources/unsubscribe": f"the end of the subscription to {thing}",
        }
        return kinds.get(self.method, thing)

    def failure(self, error: BaseException, *, end: Callable[[], None]) -> McpAdaptersError:
        """Name what kept the answer away; `end` is called when the connection is past use."""
        if failure := http_failure(error, server=self.server, phase="read", end=end):
            return failure
        match error:
            case LinkTimeout():
                return self._error(
                    RequestTimeoutError,
                    f"server {self.server!r} did not answer within {error.seconds:g} s when asked for "
                    f"{self.words}",
                    timeout=error.seconds,
                )
            case MCPError() if self._is_missing(error):
                return self.not_found(error.message, code=error.code)
            case MCPError():
                return self.refused(error.message, code=error.code)
        return self.not_of_the_protocol()

    def _is_missing(self, error: MCPError) -> bool:
        if self.method != "resources/read":
            return False
        missing = (_RESOURCE_NOT_FOUND, INVALID_PARAMS, METHOD_NOT_FOUND)
        return error.code in missing or _UNKNOWN.search(error.message) is not None

    def not_found(self, words: str, *, code: int | None = None) -> RequestError:
        """Name a resource that the server does not have."""
        return self._error(
            ResourceNotFoundError, f"server {self.server!r} has no {self.words}: {words}", code=code
        )

    def refused(self, words: str, *, code: int | None = None) -> RequestError:
        """Name a refusal."""
        return self._error(RequestError, f"server {self.server!r} refused {self.words}: {words}", code=code)

    def not_of_the_protocol(self) -> ProtocolError:
        """Name an answer that is something else."""
        return ProtocolError(
            f"server {self.server!r} answered with something that is not of the protocol when asked for "
            f"{self.words}",
            server=self.server,
            phase="read",
        )

    def asks_back(self) -> ProtocolError:
        """Name an answer that asks for input which this client never offered to give."""
        return ProtocolError(
            f"server {self.server!r} asks for input when asked for {self.words}, and nobody here was said to "
            "answer",
            server=self.server,
            phase="read",
        )

    def asks_for_ever(self, rounds: int) -> ProtocolError:
        """Name a request that leads to one question after another."""
        return ProtocolError(
            f"server {self.server!r} asked for input {rounds} times when asked for {self.words}",
            server=self.server,
            phase="read",
        )

    def unanswered(self, reason: str) -> RequestError:
        """Name a request that cannot go on since a question got no answer."""
        return self._error(
            RequestError,
            f"server {self.server!r} asked for something that it did not get when asked for {self.words}: "
            f"{reason}",
        )

    def _error(self, kind: type[RequestError], message: str, **facts: Any) -> RequestError:
        return kind(
            message, server=self.server, method=self.method, uri=self.uri, prompt=self.prompt, **facts
        )
