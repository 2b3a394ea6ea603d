"""The session of a real server in a file, and the same session without the server.

In: a server and the path of a file. Out: something to give to a `Toolbox` as that server. The file is JSON
for people to read and to compare: one entry for each request, with what the server sent until its answer.
Secrets of the server's description, and others that are named, do not get into it.
"""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias

from mcp_adapters._transports import transport_for
from mcp_adapters.config import load_servers
from mcp_adapters.config.masking import mask
from mcp_adapters.errors import ConfigError
from mcp_adapters.testing.expecting import Expecting, Sent, essential
from mcp_adapters.testing.wire import Say, tapped

__all__ = ("Mode", "Recording")

Mode: TypeAlias = Literal["replay", "record", "auto"]

FORMAT = 1
_GREETINGS = frozenset({"initialize", "server/discover", "ping", "logging/setLevel", "subscriptions/listen"})
"""Asked for by each new connection, as often as there is one, in words that may differ."""


@dataclass(slots=True)
class _Exchange:
    """One request, what the server sent before its answer, and the answer."""

    method: str
    params: dict[str, Any]
    before: list[dict[str, Any]] = field(default_factory=list)
    answer: dict[str, Any] | None = None
    """`result` or `error`; None when none came."""
    ended: bool = False
    """Whether the server ended the connection instead of answering."""


class Recording(Expecting):
    """A real server's session, recorded once and then played back without it.

    Use it as a server of a `Toolbox`. As a context manager it fails at the end if something was asked
    that is not in the file.

    Args:
        path: The file.
        server: The server, as a `Toolbox` takes it: a stdio or HTTP server. Needed to record.
        mode: "replay": the file is played, no server is started; "record": the server is used, and the
            file is written anew when the connection ends; "auto": "replay" where the file is there.
        secrets: Further texts that do not get into the file; each is replaced by `***`.

    Raises:
        ConfigError: There is no file to play, it is of another form, or no server to record.

    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        server: Any = None,
        *,
        mode: Mode = "replay",
        secrets: Iterable[str] = (),
    ) -> None:
        super().__init__()
        self.path = Path(path)
        self.records = mode == "record" or (mode == "auto" and not self.path.exists())
        self._server = (
            None if server is None else load_servers({"recorded": server}, environ=os.environ)["recorded"]
        )
        self._secrets = tuple(secrets)
        self._exchanges = [] if self.records else _read(self.path)
        self._played: set[int] = set()
        if self.records and self._server is None:
            raise ConfigError(f"there is no server to record into {self.path.name!r}")

    def __call__(self) -> AbstractAsyncContextManager[tuple[Any, Any]]:
        """A new connection, as a transport of the SDK's kind."""
        return self._recorded() if self.records else super().__call__()

    # -- playing ------------------------------------------------------------------------------

    async def _respond(self, request: Sent, message: Mapping[str, Any], say: Say) -> bool:
        exchange = self._next(request)
        if exchange is None:
            await say({"id": message["id"], **self.refuse(request, self._known(request.method))})
            return True
        token = (message.get("params", {}).get("_meta") or {}).get("progressToken")
        for earlier in exchange.before:
            await say(_with_token(earlier, token))
        if exchange.answer is not None:
            await say({"id": message["id"], **exchange.answer})
        return not exchange.ended

    def _known(self, method: str) -> str:
        """What there is in the place of a request that is not there."""
        same = [one.params for one in self._exchanges if one.method == method]
        methods = sorted({one.method for one in self._exchanges})
        known = f"recorded for {method}: {same!r}" if same else f"recorded: {', '.join(methods)}"
        return f"{self.path.name!r} has no such one left; {known[:500]}"

    def _next(self, request: Sent) -> _Exchange | None:
        params = json.loads(self._clean(dict(request.params)))
        same = [
            number
            for number, one in enumerate(self._exchanges)
            if one.method == request.method and (one.params == params or one.method in _GREETINGS)
        ]
        left = [number for number in same if number not in self._played]
        if left:
            self._played.add(left[0])
            return self._exchanges[left[0]]
        repeatable = request.method in _GREETINGS or request.method.endswith("/list")
        return self._exchanges[same[-1]] if same and repeatable else None

    # -- recording ----------------------------------------------------------------------------

    @asynccontextmanager
    async def _recorded(self) -> AsyncIterator[tuple[Any, Any]]:
        pending: dict[Any, _Exchange] = {}
        transport = transport_for("recorded", self._server, loop=None)
        try:
            async with AsyncExitStack() as stack:
                streams = await transport.streams(stack)
                tap = tapped(
                    streams,
                    partial(self._incoming, pending),
                    partial(self._outgoing, pending),
                    partial(self._ended, pending),
                )
                yield await stack.enter_async_context(tap)
        finally:
            self._write()

    def _outgoing(self, pending: dict[Any, _Exchange], message: dict[str, Any]) -> None:
        """Note what the client sends."""
        if "method" not in message:
            return
        request = essential(message)
        self.sent.append(request)
        if "id" in message:
            exchange = _Exchange(request.method, dict(request.params))
            pending[message["id"]] = exchange
            self._exchanges.append(exchange)

    def _incoming(self, pending: dict[Any, _Exchange], message: dict[str, Any]) -> None:
        """Note what the server sends: an answer, or something that belongs to the latest request."""
        if "method" not in message:
            exchange = pending.pop(message.get("id"), None)
            if exchange is not None:
                exchange.answer = {key: message[key] for key in ("result", "error") if key in message}
        elif pending:
            list(pending.values())[-1].before.append(
                {key: message[key] for key in message if key != "jsonrpc"}
            )

    def _ended(self, pending: dict[Any, _Exchange]) -> None:
        for exchange in pending.values():
            exchange.ended = True

    def _clean(self, value: Any) -> str:
        text = json.dumps(value, indent=2, ensure_ascii=False)
        redact = getattr(self._server, "redact", None)
        return mask(redact(text) if redact else text, self._secrets)

    def _write(self) -> None:
        content = {"format": FORMAT, "exchanges": [asdict(one) for one in self._exchanges]}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        draft = self.path.with_name(f"{self.path.name}.part")
        draft.write_text(f"{self._clean(content)}\n", encoding="utf-8")
        draft.replace(self.path)


def _read(path: Path) -> list[_Exchange]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["format"] != FORMAT:
            raise ValueError(f"it has the format {content['format']!r}")
        return [_Exchange(**one) for one in content["exchanges"]]
    except FileNotFoundError:
        raise ConfigError(f"there is no recording {str(path)!r}; make one with mode='record'") from None
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"{str(path)!r} is no recording: {error}") from error


def _with_token(message: Mapping[str, Any], token: Any) -> dict[str, Any]:
    """A progress report of the recorded call, for the call that is made now."""
    if message.get("method") != "notifications/progress" or token is None:
        return dict(message)
    return {**message, "params": {**message["params"], "progressToken": token}}
