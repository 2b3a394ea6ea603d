"""Has the user's functions answer what a server asks, and gives the answer as the protocol wants it.

In: a server's question as JSON, and where the user is. Out: an answer as JSON, or `Refused`. A function
for a person that fails, takes too long or answers something else counts as a person who made no choice;
one for a model, as a model that is not there. Only the log says why, and never what was answered.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Mapping
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from mcp_adapters._handlers import Messenger
from mcp_adapters.asking import (
    ElicitationAnswer,
    ElicitationRequest,
    OnElicitation,
    Pause,
    Root,
    SamplingAnswer,
    SamplingRefusal,
)
from mcp_adapters.elicitation import check_answer, read_request, secret_fields
from mcp_adapters.elicitation.pending import written
from mcp_adapters.errors import ConfigError
from mcp_adapters.handlers import Handlers
from mcp_adapters.sampling import read_sampling, write_sampling

__all__ = ("Abilities", "Asking", "Questions", "Refused")

logger = logging.getLogger(__name__)

INVALID_PARAMS, INTERNAL_ERROR, REFUSED_BY_USER = -32602, -32603, -1
"""Source: JSON-RPC 2.0, "Error object"; MCP 2025-11-25, client/sampling, "Error Handling"."""

_REMEMBERED_PAGES = 1_000
"""Pages that are kept until the server says that the person is done with them; the oldest go first."""

R = TypeVar("R")
T = TypeVar("T")


class Refused(Exception):  # noqa: N818 - an answer, not a failure
    """The question gets no answer; the server may be told why."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Abilities:
    """What servers are told that they may ask for."""

    form: bool = False
    url: bool = False
    sampling: bool = False
    sampling_tools: bool = False
    roots: bool = False


@dataclass(slots=True)
class Asking:
    """On whose behalf questions are asked."""

    messenger: Messenger
    """Brings them to where the user is."""
    tool: str | None = None
    """The tool that is being called; None when that cannot be told."""
    context: Context = field(default_factory=copy_context)
    """The context variables of the call."""
    models: int = 0
    """How many times a model was asked for."""


class Questions:
    """Answers the questions of one server.

    Args:
        server: The server's key in the configuration.
        handlers: The user's functions.

    Raises:
        ConfigError: A root is no address of a file.

    """

    def __init__(self, server: str, handlers: Handlers) -> None:
        self._server = server
        self._handlers = handlers
        self._pages: dict[str, asyncio.Event] = {}
        if not (handlers.roots is None or callable(handlers.roots)):
            try:
                _roots(handlers.roots)
            except (TypeError, ValueError) as error:
                raise ConfigError(f"handlers.roots cannot be used: {error}") from error

    def abilities(self, *, modern: bool) -> Abilities:
        """What this server is told, by whether it speaks protocol 2026-07-28 or later."""
        handlers = self._handlers
        elicits = self.pauses if modern else False
        elicits = elicits or self._ask_person is not None
        return Abilities(
            form=elicits and "form" in handlers.elicitation_modes,
            url=elicits and "url" in handlers.elicitation_modes,
            sampling=handlers.sampling is not None,
            sampling_tools=bool(getattr(handlers.sampling, "takes_tools", False)),
            roots=handlers.roots is not None,
        )

    def answers(self, method: str) -> bool:
        """Whether servers of protocol 2026-07-28 were told that they may ask this."""
        able = self.abilities(modern=True)
        return {
            "elicitation/create": able.form or able.url,
            "sampling/createMessage": able.sampling,
            "roots/list": able.roots,
        }.get(method, False)

    @property
    def pauses(self) -> bool:
        """Whether a question to the person ends the call, where the protocol allows it."""
        return isinstance(self._handlers.elicitation, Pause)

    @property
    def completion_timeout(self) -> float:
        """Seconds to wait for the server's word that the person is done with a page."""
        return self._handlers.completion_timeout

    @property
    def _ask_person(self) -> OnElicitation | None:
        given = self._handlers.elicitation
        return given.otherwise if isinstance(given, Pause) else given

    async def answer(self, method: str, params: Mapping[str, Any], asking: Asking) -> dict[str, Any]:
        """The answer to a question, as JSON.

        Raises:
            Refused: There is none.

        """
        match method:
            case "elicitation/create":
                return await self.elicited(params, asking)
            case "sampling/createMessage" if self._handlers.sampling is not None:
                return await self._sampled(params, asking)
            case "roots/list" if self._handlers.roots is not None:
                return await self._rooted(asking)
        raise Refused(INVALID_PARAMS, f"nobody here answers {method[:60]}")

    # -- a person -----------------------------------------------------------------------------

    async def elicited(self, params: Mapping[str, Any], asking: Asking) -> dict[str, Any]:
        """The answer to an `elicitation/create`, as JSON; a person is asked.

        Raises:
            Refused: Nobody is there who could be asked so.

        """
        request = self.screened(params, asking.tool)
        if not isinstance(request, ElicitationRequest):
            return request
        ask = self._ask_person
        if ask is None:
            raise Refused(INVALID_PARAMS, "nobody here was said to answer for a person")
        if request.elicitation_id is not None:
            self._remember(request.elicitation_id)
        answer = await self._answer(ask, request, asking)
        return written(answer)

    def screened(self, params: Mapping[str, Any], tool: str | None) -> ElicitationRequest | dict[str, Any]:
        """The question as a person may see it, or the answer where no person should be asked.

        Raises:
            Refused: It is of a mode that nobody can show.

        """
        try:
            request = read_request(self._server, params, tool=tool)
        except ValueError as error:
            logger.warning("a question of server %r cannot be asked: %s", self._server, error)
            return {"action": "cancel"}
        if request.mode not in self._handlers.elicitation_modes:
            raise Refused(INVALID_PARAMS, f"nobody here answers questions of the mode {request.mode!r}")
        if secrets := secret_fields(request):
            fields = ", ".join(map(repr, secrets))[:200]
            logger.warning(
                "server %r asks for secrets in a form (%s) and was told no; it must use a page (mode 'url')",
                self._server,
                fields,
            )
            return {"action": "decline"}
        return request

    async def _answer(
        self, ask: OnElicitation, request: ElicitationRequest, asking: Asking
    ) -> ElicitationAnswer:
        try:
            return check_answer(request, await self._asked(ask, request, asking))
        except TimeoutError:
            self._unanswered()
        except ValueError as error:
            logger.warning("a question of server %r got no usable answer: %s", self._server, error)
        except _HandlerFailed as failed:
            self._failed(failed)
        return ElicitationAnswer(action="cancel")

    # -- pages --------------------------------------------------------------------------------

    def _remember(self, elicitation_id: str) -> None:
        while len(self._pages) >= _REMEMBERED_PAGES:
            del self._pages[next(iter(self._pages))]
        self._pages.setdefault(elicitation_id, asyncio.Event())

    def completed(self, elicitation_id: str) -> bool:
        """Take note that the person is done with a page; False when nobody was sent to it."""
        event = self._pages.pop(elicitation_id, None)
        if event is not None:
            event.set()
        return event is not None

    def completion(self, elicitation_id: str) -> Awaitable[Any] | None:
        """Done when the person is done with a page; None when that is known already."""
        event = self._pages.get(elicitation_id)
        return None if event is None else event.wait()

    # -- a model ------------------------------------------------------------------------------

    async def _sampled(self, params: Mapping[str, Any], asking: Asking) -> dict[str, Any]:
        asking.models += 1
        try:
            request = read_sampling(self._server, params, tool=asking.tool, number=asking.models)
        except (TypeError, ValueError) as error:
            logger.warning("a question of server %r to a model cannot be asked: %s", self._server, error)
            raise Refused(INVALID_PARAMS, f"the question cannot be asked: {error}") from error
        sampling = self._handlers.sampling
        assert sampling is not None
        if request.tools and not getattr(sampling, "takes_tools", False):
            raise Refused(INVALID_PARAMS, "no model here takes tools")
        answer = await self._trusted(sampling, request, asking)
        if isinstance(answer, SamplingRefusal):
            raise Refused(REFUSED_BY_USER, answer.reason)
        if not isinstance(answer, SamplingAnswer):
            raise self._unusable(f"the handler gave {type(answer).__name__} instead of a SamplingAnswer")
        try:
            return write_sampling(request, answer)
        except (TypeError, ValueError) as error:
            raise self._unusable(error) from error

    # -- roots --------------------------------------------------------------------------------

    async def _rooted(self, asking: Asking) -> dict[str, Any]:
        given = self._handlers.roots
        function = given if callable(given) else None
        found = await self._trusted(lambda _: function(), None, asking) if function else given
        try:
            roots = _roots(found)
        except (TypeError, ValueError) as error:
            raise self._unusable(f"roots: {error}") from error
        named = [{"uri": root.uri} | ({"name": root.name} if root.name else {}) for root in roots]
        return {"roots": named}

    # -- asking -------------------------------------------------------------------------------

    async def _asked(self, function: Callable[[T], Awaitable[R] | R], question: T, asking: Asking) -> R:
        """What the user's function answers.

        Raises:
            TimeoutError: It took too long.
            _HandlerFailed: It raised something.

        """
        limit = asyncio.timeout(self._handlers.answer_timeout)
        try:
            async with limit:
                return await asking.messenger.ask(function, question, asking.context)
        except Exception as error:
            if limit.expired():
                raise
            raise _HandlerFailed from error

    async def _trusted(self, function: Callable[[T], Awaitable[R] | R], question: T, asking: Asking) -> R:
        """As `_asked`, for answers without which there is nothing to say."""
        try:
            return await self._asked(function, question, asking)
        except TimeoutError:
            self._unanswered()
        except _HandlerFailed as failed:
            self._failed(failed)
        raise Refused(INTERNAL_ERROR, "no answer could be given")

    def _unanswered(self) -> None:
        limit = self._handlers.answer_timeout
        logger.warning("nobody answered a question of server %r within %g seconds", self._server, limit)

    def _failed(self, failed: _HandlerFailed) -> None:
        why = failed.__cause__
        logger.error("the handler for questions of server %r failed", self._server, exc_info=why)

    def _unusable(self, why: object) -> Refused:
        logger.warning("a question of server %r got no usable answer: %s", self._server, why)
        return Refused(INTERNAL_ERROR, "no answer could be given")


class _HandlerFailed(Exception):  # noqa: N818 - carries the failure, which is its cause
    """The user's function raised an error."""


def _roots(given: Any) -> tuple[Root, ...]:
    """Roots from whatever form the user gave.

    Raises:
        TypeError, ValueError: They are no roots.

    """
    if isinstance(given, str | os.PathLike):
        raise TypeError("one path is no list of paths")
    return tuple(map(_root, given))


def _root(given: str | os.PathLike[str] | Root) -> Root:
    if isinstance(given, Root):
        return given
    text = os.fspath(given)
    return Root(uri=text) if "://" in text else Root(uri=Path(text).absolute().as_uri())
