"""A server's question to the person as an event that LlamaIndex's workflow waits for.

In: the context that an agent gives to a tool, and a way to make a call and to go on with it. Out: its
answer. When the person's answer comes, LlamaIndex runs the step that waits again from its start, so what
the server gave is put into the context's store before anybody waits: the call is not made again, not even
by another process that got the context as JSON.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, NoReturn
from uuid import uuid4
from weakref import WeakKeyDictionary

from llama_index.core.workflow import Context, HumanResponseEvent, InputRequiredEvent

from mcp_adapters import (
    CallAnswers,
    ConnectionLostError,
    ElicitationAnswer,
    InputRequiredError,
    PendingCall,
    ToolResult,
)
from mcp_adapters.elicitation import read_answer, shown

__all__ = ("McpAnswerEvent", "McpQuestionEvent", "answered")

_DONE = "done"
"""What the store keeps of a call that waited and has its result."""
_REMEMBERED_CLAIMS = 10_000

_claimed: dict[str, None] = {}
"""The calls that this process has gone on with, oldest first; one loop runs all steps of a workflow."""

_asked_in: WeakKeyDictionary[Context, set[str]] = WeakKeyDictionary()
"""The questions that were put in each run of a workflow of this process."""


class McpQuestionEvent(InputRequiredEvent):
    """A server asks the person; every text in it is the server's. Answer it with an `McpAnswerEvent`."""

    question_id: str
    server: str
    """The server's key in the configuration."""
    tool: str | None = None
    message: str
    mode: Literal["form", "url"]
    form: dict[str, Any] | None = None
    """The JSON Schema of a form; None for a page."""
    url: str | None = None
    """The page to visit; show it with its host and ask before opening it. None for a form."""
    host: str | None = None
    problem: str | None = None
    """Why the last answer was not taken; None for a question that is asked for the first time."""


class McpAnswerEvent(HumanResponseEvent):
    """What the person said."""

    question_id: str
    """That of the question."""
    action: Literal["accept", "decline", "cancel"]
    content: dict[str, Any] | None = None
    """The fields of an accepted form."""


async def answered(
    context: Context,
    name: str,
    arguments: Mapping[str, Any],
    send: Callable[[CallAnswers | None], Awaitable[ToolResult]],
) -> ToolResult:
    """Make a call, and wait for the person's answer to whatever the server wants to know.

    Args:
        context: The agent's.
        name: The tool's name.
        arguments: The call's arguments.
        send: Makes the call, or goes on with it; raises InputRequiredError when it waits.

    Raises:
        ConnectionLostError: The call went on with the answers in a process that is gone.

    """
    key = _key(name, arguments)
    kept = await context.store.get(key, default=None)
    if kept == _DONE:
        await _never(context, key)
    answers = None
    while True:
        if kept is not None:
            answers = await _asked(context, key, kept)
            await _claim(context, key, kept)
        try:
            result = await send(answers)
        except InputRequiredError as error:
            kept = _waiting(error.pending)
            await context.store.set(key, kept)
        except Exception:
            await _end(context, key, kept)
            raise
        else:
            await _end(context, key, kept)
            return result


def _waiting(pending: PendingCall) -> dict[str, Any]:
    """What the store keeps of a call that waits."""
    return {
        "token": uuid4().hex,
        "sent": False,
        "pending": pending.to_json(),
        "answers": {},
        "problems": {},
    }


async def _claim(context: Context, key: str, kept: dict[str, Any]) -> None:
    """Let one run of the step go on with a call: LlamaIndex may run it more than once for one answer."""
    if kept["token"] in _claimed:
        await _never(context, key)
    if kept["sent"]:
        server, tool = kept["pending"]["server"], kept["pending"]["tool"]
        raise ConnectionLostError(
            f"tool {tool!r} of server {server!r} went on with the answers in a process that is gone; "
            "whether the call had an effect is unknown",
            server=server,
            tool=tool,
            phase="call",
        )
    _claimed[kept["token"]] = None
    while len(_claimed) > _REMEMBERED_CLAIMS:
        del _claimed[next(iter(_claimed))]
    await context.store.set(key, {**kept, "sent": True})


async def _end(context: Context, key: str, kept: dict[str, Any] | None) -> None:
    """Keep a call that once waited from being made again by a late run of the step."""
    if kept is not None:
        await context.store.set(key, _DONE)


async def _never(context: Context, key: str) -> NoReturn:
    """End this run of the step without a result; another one has it, or will have it."""
    for number in itertools.count():
        await context.wait_for_event(
            McpAnswerEvent,
            waiter_id=f"{key}-over-{number}",
            requirements={"question_id": f"{key}-over"},
            timeout=None,
        )
    raise AssertionError("nobody answers this")


def _key(name: str, arguments: Mapping[str, Any]) -> str:
    """Where the store keeps a call: by what is called and, where it can be told, which call of the model."""
    call = json.dumps([name, arguments, _identity()], sort_keys=True, default=str)
    return f"mcp_adapters_{hashlib.sha256(call.encode()).hexdigest()[:32]}"


def _step() -> Any:
    """The run of a step that this is, as LlamaIndex knows it: its event, and who waits in it."""
    results = sys.modules["workflows.runtime.types.results"]
    return results.StepWorkerStateContextVar.get()


def _identity() -> list[str]:
    """What tells two equal calls apart, in this run of the step and in the next."""
    step = _step()
    return [str(step.state.work_item_id), str(getattr(step.event, "tool_id", ""))]


async def _asked(context: Context, key: str, kept: dict[str, Any]) -> CallAnswers:
    """The answers to all open questions; each is stored before the next one is waited for."""
    pending = PendingCall.from_json(kept["pending"])
    answers: dict[str, ElicitationAnswer] = {}
    for name, question in pending.questions.items():
        while name not in answers:
            if name not in kept["answers"]:
                kept["answers"][name] = await _wait(context, key, kept, name)
            try:
                answers[name] = read_answer(question, kept["answers"][name])
            except ValueError as error:
                del kept["answers"][name]
                kept["problems"].setdefault(name, []).append(str(error))
            await context.store.set(key, kept)
    return pending.answered(answers)


async def _wait(context: Context, key: str, kept: dict[str, Any], name: str) -> dict[str, Any]:
    """The person's answer to one question, as JSON.

    A context that was restored has forgotten which waiter wants which answer until each has run once, and
    a waiter that is replaced forgets an answer that it has. So answers are looked for in all waiters, and
    none is ever replaced.
    """
    problems = kept["problems"].get(name, [])
    identifier = f"{key}-{kept['pending']['rounds']}-{len(problems)}-{name}"
    for waiter in _step().state.collected_waiters:
        event = waiter.resolved_event
        if isinstance(event, McpAnswerEvent) and event.question_id == identifier:
            return {"action": event.action, "content": event.content}
    asked = _asked_in.setdefault(context, set())
    if identifier in asked:
        await _never(context, key)
    asked.add(identifier)
    told = shown(PendingCall.from_json(kept["pending"]).questions[name])
    question = McpQuestionEvent(
        question_id=identifier,
        form=told.pop("schema", None),
        problem=problems[-1] if problems else None,
        **told,
    )
    event = await context.wait_for_event(
        McpAnswerEvent,
        waiter_event=question,
        waiter_id=f"{identifier}-{uuid4().hex}",
        requirements={"question_id": identifier},
        timeout=None,
    )
    return {"action": event.action, "content": event.content}
