"""Has the user's functions answer what a server asks, and gives the answer as the protocol wants it.

In: a server's question as JSON, and where the user is. Out: an answer as JSON, always: a function that
fails, takes too long or answers something else counts as a person who made no choice. Only the log
says why, and never what was answered.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mcp_adapters._handlers import Messenger
from mcp_adapters.asking import ElicitationAnswer, ElicitationRequest
from mcp_adapters.elicitation import check_answer, read_request, secret_fields
from mcp_adapters.handlers import Handlers

__all__ = ("Asking", "Questions")

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Asking:
    """On whose behalf a question is asked."""

    messenger: Messenger
    """Brings it to where the user is."""
    tool: str | None = None
    """The tool that is being called; None when that cannot be told."""


class Questions:
    """Answers the questions of one server.

    Args:
        server: The server's key in the configuration.
        handlers: The user's functions.

    """

    def __init__(self, server: str, handlers: Handlers) -> None:
        self._server = server
        self._handlers = handlers

    @property
    def elicits(self) -> bool:
        """Whether anybody answers an `elicitation/create`."""
        return self._handlers.elicitation is not None

    async def elicited(self, params: Mapping[str, Any], asking: Asking) -> dict[str, Any]:
        """The answer to an `elicitation/create`, as JSON."""
        try:
            request = read_request(self._server, params, tool=asking.tool)
        except ValueError as error:
            logger.warning("a question of server %r cannot be asked: %s", self._server, error)
            return {"action": "cancel"}
        if secrets := secret_fields(request):
            fields = ", ".join(map(repr, secrets))[:200]
            logger.warning(
                "server %r asks for secrets in a form (%s) and was told no; it must use a page (mode 'url')",
                self._server,
                fields,
            )
            return {"action": "decline"}
        answer = await self._answer(request, asking.messenger)
        content = {} if answer.content is None else {"content": dict(answer.content)}
        return {"action": answer.action, **content}

    async def _answer(self, request: ElicitationRequest, messenger: Messenger) -> ElicitationAnswer:
        assert self._handlers.elicitation is not None
        limit = self._handlers.answer_timeout
        try:
            async with asyncio.timeout(limit):
                answer = await messenger.ask(self._handlers.elicitation, request)
        except TimeoutError:
            logger.warning("nobody answered a question of server %r within %g seconds", self._server, limit)
        except Exception:
            logger.exception("the handler for questions of server %r failed", self._server)
        else:
            return self._checked(request, answer)
        return ElicitationAnswer(action="cancel")

    def _checked(self, request: ElicitationRequest, answer: object) -> ElicitationAnswer:
        try:
            return check_answer(request, answer)
        except ValueError as error:
            logger.warning("a question of server %r got no usable answer: %s", self._server, error)
            return ElicitationAnswer(action="cancel")
