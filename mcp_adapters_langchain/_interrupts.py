"""A server's question to the person as an interrupt of LangGraph's graph.

In: a way to make a call, and to go on with it. Out: its answer; or the graph is interrupted, and whoever
resumes it gives the person's answer. LangGraph runs a node that was interrupted again from its start, so
each request to the server is a task of the graph: what it gave is in the checkpoint, and it is not sent
again, not even by another process.

Nothing here is used outside of a graph, so LangGraph is no dependency.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from mcp_adapters import CallAnswers, ElicitationAnswer, ElicitationRequest, InputRequiredError, PendingCall
from mcp_adapters.elicitation import read_answer, shown

__all__ = ("INTERRUPT", "acompleted", "completed", "in_graph")

INTERRUPT = "mcp_elicitation"
"""The `type` of the value that such an interrupt carries."""

Answer: TypeAlias = tuple[Any, Any]
"""Content, or a message, and artifact, as LangChain's tools give them."""


@dataclass(frozen=True, slots=True)
class _Sending:
    """How a call is made; shown to nobody who listens to the tasks of a graph."""

    send: Callable[[CallAnswers | None], Any] = field(repr=False)


def in_graph() -> bool:
    """Whether the caller runs inside of a LangGraph graph."""
    graph = sys.modules.get("langgraph.config")
    if graph is None:
        return False
    try:
        graph.get_stream_writer()
    except (RuntimeError, KeyError):
        return False
    return True


def completed(send: Callable[[CallAnswers | None], Answer], call_id: str | None) -> Answer:
    """Make a call and ask the person whatever the server wants to know.

    Args:
        send: Makes the call, or goes on with it; raises InputRequiredError when it waits.
        call_id: The id of the model's tool call.

    Raises:
        GraphInterrupt: The person is to be asked.
        InputRequiredError: LangGraph gave the answer of another call.

    """
    from langgraph.func import task

    request: Any = task(_request)
    answers = None
    while True:
        done = request(_Sending(send), answers, call_id).result()
        if "answer" in done:
            return _own(done, call_id)
        answers = _asked(done, call_id)


async def acompleted(send: Callable[[CallAnswers | None], Awaitable[Answer]], call_id: str | None) -> Answer:
    """Make a call and ask the person whatever the server wants to know; as `completed`."""
    from langgraph.func import task

    request: Any = task(_arequest)
    answers = None
    while True:
        done = await request(_Sending(send), answers, call_id)
        if "answer" in done:
            return _own(done, call_id)
        answers = _asked(done, call_id)


def _request(sending: _Sending, answers: CallAnswers | None, call_id: str | None) -> dict[str, Any]:
    """One request, as the graph's task: what it gives must be fit for a checkpoint."""
    try:
        return {"call_id": call_id, "answer": sending.send(answers)}
    except InputRequiredError as error:
        return {"call_id": call_id, "pending": error.pending.to_json()}


async def _arequest(sending: _Sending, answers: CallAnswers | None, call_id: str | None) -> dict[str, Any]:
    try:
        return {"call_id": call_id, "answer": await sending.send(answers)}
    except InputRequiredError as error:
        return {"call_id": call_id, "pending": error.pending.to_json()}


def _own(done: dict[str, Any], call_id: str | None) -> Answer:
    _check(done, call_id)
    content, artifact = done["answer"]
    return content, artifact


def _asked(done: dict[str, Any], call_id: str | None) -> CallAnswers:
    _check(done, call_id)
    pending = PendingCall.from_json(done["pending"])
    return pending.answered({name: _ask(question) for name, question in pending.questions.items()})


def _check(done: dict[str, Any], call_id: str | None) -> None:
    """Refuse what belongs to another call: LangGraph tells the calls of one node apart by their order."""
    if done["call_id"] != call_id:
        raise RuntimeError(
            f"the checkpoint has a request of the tool call {done['call_id']!r} where that of {call_id!r} is "
            "expected; let each tool call run in a node of its own, as the agents of create_agent do"
        )


def _ask(question: ElicitationRequest) -> ElicitationAnswer:
    """Interrupt the graph until there is an answer that fits; a wrong one is told why and asked for again."""
    from langgraph.types import interrupt

    value: dict[str, Any] = {"type": INTERRUPT, **shown(question)}
    while True:
        given = interrupt(value)
        try:
            return read_answer(question, given)
        except ValueError as error:
            value = {**value, "problem": str(error)}
