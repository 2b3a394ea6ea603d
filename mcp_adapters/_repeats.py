"""Notice a model that makes one failing call again and again.

In: what is called and how it ended. Out: nothing, or an error instead of a call that failed in the
same way too often. Safe to use from many threads.
"""

from __future__ import annotations

import hashlib
import json
import threading
from types import TracebackType
from typing import Any, TypeAlias

from mcp_adapters.errors import ProtocolError, ServerError, ToolError, ToolExecutionError
from mcp_adapters.interception import CallRequest
from mcp_adapters.naming import Identity
from mcp_adapters.spec import ToolResult

__all__ = ("Repeats",)

_FAILURES = (ToolError, ServerError, ProtocolError)
_Key: TypeAlias = tuple[Identity, bytes]


class Repeats:
    """Counts, for each tool, the failures in a row of calls with the same arguments.

    Args:
        limit: How many may fail; None means any number.

    """

    def __init__(self, limit: int | None) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._failures: dict[Identity, tuple[bytes, int]] = {}

    def watch(self, request: CallRequest) -> Watch:
        """Begin a call; use it as `with` block and put the result into it.

        Raises:
            ToolExecutionError: The same call has failed too often; it must not be sent.

        """
        if self._limit is None:
            return Watch(self, None)
        key = (request.server, request.tool), _digest(request.arguments)
        with self._lock:
            digest, failures = self._failures.get(key[0], (b"", 0))
        if digest == key[1] and failures >= self._limit:
            raise _refusal(request, failures)
        return Watch(self, key)

    def ended(self, key: _Key, *, failed: bool) -> None:
        """Remember how a call ended."""
        identity, digest = key
        with self._lock:
            before, failures = self._failures.pop(identity, (digest, 0))
            if failed:
                self._failures[identity] = digest, failures + 1 if before == digest else 1


class Watch:
    """One call under way."""

    def __init__(self, repeats: Repeats, key: _Key | None) -> None:
        self._repeats = repeats
        self._key = key
        self.result: ToolResult | None = None

    def __enter__(self) -> Watch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._key is None:
            return
        # Neither a cancellation nor an error of the program says anything about the call.
        if isinstance(error, _FAILURES) or self.result is not None:
            self._repeats.ended(self._key, failed=self.result is None or self.result.is_error)


def _digest(arguments: Any) -> bytes:
    try:
        text = json.dumps(arguments, sort_keys=True, default=repr)
    except (TypeError, ValueError, RecursionError):
        text = repr(arguments)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _refusal(request: CallRequest, failures: int) -> ToolExecutionError:
    times = "once" if failures == 1 else f"{failures} times in a row"
    return ToolExecutionError(
        f"tool {request.exposed_name!r} was not called: it failed {times} with exactly these arguments; "
        "change the arguments, use another tool, or say that it cannot be done",
        server=request.server,
        tool=request.tool,
    )
