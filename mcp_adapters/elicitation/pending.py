"""A call that waits for answers of a person, as a value that outlives the process.

In: what a server of protocol 2026-07-28 gave instead of a result. Out: the questions, and with their
answers what the same call is to be sent with. The server's state goes back as it came; nobody looks into it.

Source: MCP 2026-07-28, basic/patterns, "Multi Round-Trip Requests".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mcp_adapters.asking import ElicitationAnswer, ElicitationRequest
from mcp_adapters.elicitation.reading import check_answer, read_request
from mcp_adapters.spec import CallAnswers

__all__ = ("PendingCall", "read_answer", "shown", "written")


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingCall:
    """A call that a server answered with questions; JSON keeps it, see `to_json`."""

    server: str
    """The server's key in the configuration."""
    tool: str
    """The server's own name for the tool."""
    asked: Mapping[str, Mapping[str, Any]]
    """The parameters of each open question by the server's name for it, as JSON."""
    responses: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """What was answered already, without a person."""
    state: str | None = field(default=None, repr=False)
    """The server's own state, opaque; None without one."""
    rounds: int = 1
    """How many times the server has asked so far."""
    task: str | None = field(default=None, repr=False)
    """The task that the server made of the call; None where it made none."""

    @property
    def questions(self) -> dict[str, ElicitationRequest]:
        """The open questions by the server's name for each, in its order."""
        return {
            name: read_request(self.server, params, tool=self.tool) for name, params in self.asked.items()
        }

    def answered(self, answers: Mapping[str, ElicitationAnswer]) -> CallAnswers:
        """What to call the tool with, as `resume`, to go on.

        Args:
            answers: One for each open question, by its name.

        Raises:
            ValueError: A question has no answer, or one that does not fit it; the message says which.

        """
        if missing := sorted(self.asked.keys() - answers.keys()):
            raise ValueError(f"no answer to {', '.join(map(repr, missing))}")
        fresh = {
            name: written(check_answer(request, answers[name])) for name, request in self.questions.items()
        }
        return CallAnswers(
            state=self.state, responses={**self.responses, **fresh}, rounds=self.rounds, task=self.task
        )

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON; it holds the server's state, so treat it as you treat the conversation."""
        return {
            "server": self.server,
            "tool": self.tool,
            "asked": {name: dict(params) for name, params in self.asked.items()},
            "responses": {name: dict(response) for name, response in self.responses.items()},
            "state": self.state,
            "rounds": self.rounds,
            "task": self.task,
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> PendingCall:
        """What `to_json` gave.

        Raises:
            TypeError: It is something else.

        """
        return cls(**stored)


def shown(request: ElicitationRequest) -> dict[str, Any]:
    """A question as JSON, for whoever shows it elsewhere.

    Returns:
        `server`, `tool`, `message` and `mode`; `schema` for a form, `url` and `host` for a page.

    """
    where = (
        {"schema": request.schema} if request.mode == "form" else {"url": request.url, "host": request.host}
    )
    told = {"server": request.server, "tool": request.tool, "message": request.message, "mode": request.mode}
    return {**told, **where}


def read_answer(request: ElicitationRequest, given: object) -> ElicitationAnswer:
    """Read an answer that came as JSON.

    Args:
        request: The question.
        given: An object with `action`, and `content` for a form that is accepted.

    Raises:
        ValueError: It is none, or does not fit the question; the message says why.

    """
    if not isinstance(given, Mapping) or not given.keys() <= {"action", "content"}:
        raise ValueError('the answer must be an object such as {"action": "accept", "content": {...}}')
    content = given.get("content")
    if content is not None and not isinstance(content, Mapping):
        raise ValueError("the content of the answer must be an object")
    answer: Any = ElicitationAnswer(action=given.get("action", ""), content=content)
    return check_answer(request, answer)


def written(answer: ElicitationAnswer) -> dict[str, Any]:
    """An answer as the protocol has it."""
    content = {} if answer.content is None else {"content": dict(answer.content)}
    return {"action": answer.action, **content}
