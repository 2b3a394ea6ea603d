"""A call that a server makes a task of is a call that takes longer: both protocol eras, over the wire."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from mcp_adapters import (
    ConnectionLostError,
    ElicitationAnswer,
    ElicitationRequest,
    Handlers,
    InputRequiredError,
    McpAdaptersError,
    Pause,
    PendingCall,
    Progress,
    ProtocolError,
    TaskEnding,
    TaskState,
    Toolbox,
    ToolboxClosedError,
    ToolCancelledError,
    ToolExecutionError,
    ToolNotFoundError,
    ToolTimeoutError,
)

from ..conftest import Wire, tool
from ..test_elicitation import FORM

EXTENSION = "io.modelcontextprotocol/tasks"
AT = {"createdAt": "2026-07-28T00:00:00Z", "lastUpdatedAt": "2026-07-28T00:00:00Z"}
OK = {"content": [{"type": "text", "text": "done at last"}]}
QUESTION = {"method": "elicitation/create", "params": FORM}
YES = ElicitationAnswer(action="accept", content={"sure": True})


def modern(status: str, **facts: Any) -> dict[str, Any]:
    """A status as servers of protocol 2026-07-28 give it."""
    return {
        "result": {
            "resultType": "complete",
            "taskId": "t1",
            "status": status,
            "ttlMs": None,
            "pollIntervalMs": 1,
            **AT,
            **facts,
        }
    }


def legacy(status: str, **facts: Any) -> dict[str, Any]:
    return {"result": {"taskId": "t1", "status": status, "ttl": 60_000, "pollInterval": 1, **AT, **facts}}


def made(era: str, status: str = "working", **facts: Any) -> dict[str, Any]:
    """What a call is answered with that becomes a task."""
    if era == "modern":
        return {"result": {**modern(status, **facts)["result"], "resultType": "task"}}
    return {"result": {"task": legacy(status, **facts)["result"]}}


ACK = {"result": {"resultType": "complete"}}


def server(wire: Wire, era: str, gets: list[Any], **replies: Any) -> dict[str, Any]:
    """A server whose tool `slow` always becomes a task, with these answers to the questions for its status."""
    entry = {**tool("slow", n={"type": "integer"}), "execution": {"taskSupport": "required"}}
    offers = {"tasks": {"cancel": {}, "requests": {"tools": {"call": {}}}}}
    given = {
        "tools": [entry, tool("echo")],
        "era": era if era == "modern" else "",
        "offers": offers if era == "legacy" else {"extensions": {EXTENSION: {}}},
        "answers": {"slow": replies.pop("call", made(era))},
        "replies": {"tasks/get": gets, **{f"tasks/{name}": answers for name, answers in replies.items()}},
    }
    return {"wire": wire.server(**given)}


def params(wire: Wire, method: str) -> list[dict[str, Any]]:
    sent = [event["params"] for event in wire.events() if event.get("method") == method]
    return [{name: value for name, value in each.items() if name != "_meta"} for each in sent]


ENDINGS: dict[str, Any] = {
    "a result": (modern("completed", result=OK), "done at last"),
    "a result that says it is a task's": (
        modern("completed", result=OK, resultType="task"),
        "done at last",
    ),
    "a tool's own error": (modern("completed", result={**OK, "isError": True}), "done at last"),
    "an error of the protocol": (
        modern("failed", error={"code": -32603, "message": "out of paper"}),
        ToolExecutionError,
    ),
    "a failure without a word": (modern("failed"), ToolExecutionError),
    "a cancellation": (modern("cancelled"), ToolCancelledError),
    "a task that was forgotten": ({"error": {"code": -32602, "message": "no such task"}}, ToolExecutionError),
    "a status that does not exist": (modern("resting"), ToolExecutionError),
    "no status": ({"result": {"resultType": "complete"}}, ToolExecutionError),
    "no result": (modern("completed"), ToolExecutionError),
    "a result that is none": (
        modern("completed", result={"content": 1}),
        "[unreadable content: the entry is not an object]",
    ),
}


@pytest.mark.parametrize("name", ENDINGS)
def test_a_task_ends_as_its_call_would(wire: Wire, name: str) -> None:
    reply, expected = ENDINGS[name]
    with Toolbox(server(wire, "modern", [modern("working"), reply])) as toolbox:
        try:
            outcome: Any = toolbox.call("wire_slow", {"n": 1}).text
        except McpAdaptersError as error:
            outcome = type(error)
        again = toolbox.call("wire_echo").text

    assert outcome == expected
    assert again == "{}"
    assert wire.count("tools/call") == 2


def test_the_server_is_told_that_tasks_are_understood_and_is_asked_about_its_own(wire: Wire) -> None:
    with Toolbox(server(wire, "modern", [modern("working"), modern("completed", result=OK)])) as toolbox:
        toolbox.call("wire_slow", {"n": 1})

    [call] = [event["params"] for event in wire.events() if event.get("method") == "tools/call"]
    told = call["_meta"]["io.modelcontextprotocol/clientCapabilities"]
    assert told == {"extensions": {EXTENSION: {}}}
    assert "task" not in call
    assert params(wire, "tasks/get") == [{"taskId": "t1"}, {"taskId": "t1"}]


@pytest.mark.parametrize("gets", [[legacy("working"), legacy("completed")], [legacy("completed")]])
def test_a_server_of_the_handshake_years_is_asked_for_a_task_only_where_its_tool_needs_one(
    wire: Wire, gets: list[Any]
) -> None:
    with Toolbox(server(wire, "legacy", gets, result=[{"result": OK}])) as toolbox:
        result = toolbox.call("wire_slow", {"n": 1})
        toolbox.call("wire_echo")

    assert result.text == "done at last"
    assert params(wire, "tools/call") == [
        {"name": "slow", "arguments": {"n": 1}, "task": {}},
        {"name": "echo", "arguments": {}},
    ]
    assert params(wire, "tasks/result") == [{"taskId": "t1"}]


LEGACY_ENDINGS: dict[str, Any] = {
    "failed with a result": ("failed", {"result": {**OK, "isError": True}}, "done at last"),
    "failed with an error": ("failed", {"error": {"code": -32603, "message": "no"}}, ToolExecutionError),
    "cancelled": ("cancelled", None, ToolCancelledError),
}


@pytest.mark.parametrize("name", LEGACY_ENDINGS)
def test_a_task_of_the_handshake_years_ends_as_its_call_would(wire: Wire, name: str) -> None:
    status, result, expected = LEGACY_ENDINGS[name]
    with Toolbox(server(wire, "legacy", [legacy(status)], result=[result])) as toolbox:
        try:
            outcome: Any = toolbox.call("wire_slow").text
        except McpAdaptersError as error:
            outcome = type(error)

    assert outcome == expected


# -- news ---------------------------------------------------------------------------------------


async def test_handlers_hear_each_new_status_and_the_caller_hears_the_words(wire: Wire) -> None:
    states: list[TaskState] = []
    progress: list[Progress] = []
    gets = [
        modern("working", statusMessage="halfway"),
        modern("working", statusMessage="halfway"),
        modern("completed", result=OK),
    ]
    handlers = Handlers(task=states.append)
    async with Toolbox(server(wire, "modern", gets), handlers=handlers) as toolbox:
        await toolbox.acall("wire_slow", on_progress=progress.append)
        await asyncio.sleep(0)
        left = toolbox.pending_tasks

    assert [(one.status, one.message) for one in states] == [
        ("working", None),
        ("working", "halfway"),
        ("completed", None),
    ]
    assert states[0] == TaskState(
        server="wire", tool="slow", task_id="t1", created_at=AT["createdAt"], poll_interval=0.001
    )
    assert [(one.progress, one.total, one.message) for one in progress] == [(1, None, "halfway")]
    assert left == ()


# -- input --------------------------------------------------------------------------------------


def test_a_task_s_questions_are_answered_once_each_although_the_server_shows_them_again(wire: Wire) -> None:
    asked: list[str] = []

    def answer(request: ElicitationRequest) -> ElicitationAnswer:
        asked.append(request.message)
        return YES

    waiting = modern("input_required", inputRequests={"a": QUESTION})
    more = modern("input_required", inputRequests={"a": QUESTION, "b": QUESTION})
    gets = [waiting, waiting, more, modern("completed", result=OK)]
    handlers = Handlers(elicitation=answer)
    with Toolbox(server(wire, "modern", gets, update=[ACK]), handlers=handlers) as toolbox:
        assert toolbox.call("wire_slow").text == "done at last"

    said = {"action": "accept", "content": {"sure": True}}
    assert params(wire, "tasks/update") == [
        {"taskId": "t1", "inputResponses": {"a": said}},
        {"taskId": "t1", "inputResponses": {"b": said}},
    ]
    assert len(asked) == 2


def test_a_task_that_waits_for_a_person_goes_on_in_another_toolbox(wire: Wire) -> None:
    waiting = modern("input_required", inputRequests={"q": QUESTION})
    servers = server(wire, "modern", [waiting, waiting, modern("completed", result=OK)], update=[ACK])
    handlers = Handlers(elicitation=Pause())
    with Toolbox(servers, handlers=handlers) as toolbox, pytest.raises(InputRequiredError) as caught:
        toolbox.call("wire_slow", {"n": 1})
    stored = json.dumps(caught.value.pending.to_json())
    pending = PendingCall.from_json(json.loads(stored))
    with Toolbox(servers, handlers=handlers) as toolbox:
        result = toolbox.call("wire_slow", {"n": 1}, resume=pending.answered({"q": YES}))

    assert result.text == "done at last"
    assert wire.count("tools/call") == 1
    assert wire.count("tasks/update") == 1
    assert wire.count("tasks/cancel") == 0


@pytest.mark.parametrize(
    ("requests", "error"),
    [
        ({"q": QUESTION}, ProtocolError),
        ({"q": {"method": "roots/list"}}, ProtocolError),
    ],
)
def test_a_task_that_asks_for_what_nobody_answers_is_cancelled(
    wire: Wire, requests: dict[str, Any], error: type[Exception]
) -> None:
    gets = [modern("input_required", inputRequests=requests), modern("cancelled")]
    with Toolbox(server(wire, "modern", gets, cancel=[ACK])) as toolbox:
        with pytest.raises(error):
            toolbox.call("wire_slow")
        assert toolbox.pending_tasks == ()

    assert params(wire, "tasks/cancel") == [{"taskId": "t1"}]


# -- the end ------------------------------------------------------------------------------------


async def test_a_cancelled_call_cancels_its_task(wire: Wire) -> None:
    begun = asyncio.Event()
    handlers = Handlers(task=lambda _: begun.set())
    servers = server(wire, "modern", [modern("working")], cancel=[ACK])
    async with Toolbox(servers, handlers=handlers) as toolbox:
        calling = asyncio.create_task(toolbox.acall("wire_slow"))
        await begun.wait()
        wire.rewrite(replies={"tasks/get": [modern("cancelled")], "tasks/cancel": [ACK]})
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling
        endings = await toolbox.acancel_pending_tasks()

    assert wire.count("tasks/cancel") >= 1
    assert all(one.confirmed for one in endings)


async def test_what_could_not_be_cancelled_is_reported(wire: Wire) -> None:
    begun = asyncio.Event()
    handlers = Handlers(task=lambda _: begun.set())
    servers = server(wire, "modern", [modern("working")], cancel=[ACK])
    async with Toolbox(servers, handlers=handlers) as toolbox:
        calling = asyncio.create_task(toolbox.acall("wire_slow"))
        await begun.wait()
        [pending] = toolbox.pending_tasks
        [stubborn] = await toolbox.acancel_pending_tasks(timeout=0.3)
        wire.rewrite(replies={"tasks/get": [modern("cancelled")], "tasks/cancel": [ACK]})
        stopped = await toolbox.acancel_task(pending)
        with pytest.raises(ToolCancelledError):
            await calling
        nothing = await toolbox.acancel_pending_tasks()

    assert (pending.task_id, pending.status) == ("t1", "working")
    assert (stubborn.confirmed, stubborn.task.status, stubborn.error) == (False, "working", None)
    assert (stopped.confirmed, stopped.task.status, stopped.error) == (True, "cancelled", None)
    assert nothing == ()


def test_a_server_that_does_not_know_a_task_confirms_nothing(wire: Wire) -> None:
    unknown = {"error": {"code": -32602, "message": "no such task"}}
    task = TaskState(server="wire", tool="slow", task_id="t1")
    with Toolbox(server(wire, "modern", [unknown], cancel=[unknown])) as toolbox:
        ending = toolbox.cancel_task(task)

    assert isinstance(ending, TaskEnding)
    assert (ending.task, ending.confirmed) == (task, False)
    assert "no such task" in str(ending.error)


@pytest.mark.parametrize("era", ["modern", "legacy"])
def test_a_task_without_a_sign_of_life_times_out_and_is_told_to_stop(wire: Wire, era: str) -> None:
    state = modern if era == "modern" else legacy
    servers = server(wire, era, ["hang", state("cancelled")], cancel=[state("cancelled")])
    with Toolbox(servers) as toolbox, pytest.raises(ToolTimeoutError) as caught:
        toolbox.call("wire_slow", timeout=3.0)

    assert caught.value.limit == "idle"
    assert wire.count("tasks/cancel") == 1


def test_a_task_that_outlasts_the_whole_call_s_time_is_told_to_stop(wire: Wire) -> None:
    servers = server(wire, "modern", [modern("working")], cancel=[ACK])
    with Toolbox(servers, total_timeout=2.0) as toolbox, pytest.raises(ToolTimeoutError) as caught:
        toolbox.call("wire_slow")

    assert (caught.value.limit, caught.value.timeout) == ("total", 2.0)
    assert wire.count("tasks/cancel") == 1


# -- other lives --------------------------------------------------------------------------------


@pytest.mark.parametrize("era", ["modern", "legacy"])
def test_a_task_outlives_its_server_s_process(wire: Wire, era: str) -> None:
    """The connection is made anew, and the server is asked on; the call is not made again."""
    state = modern if era == "modern" else legacy
    gets = ["die", "die", state("working"), state("completed", result=OK)]
    with Toolbox(server(wire, era, gets, result=[{"result": OK}])) as toolbox:
        assert toolbox.call("wire_slow").text == "done at last"

    assert (wire.starts(), wire.count("tools/call")) == (3, 1)


def test_a_server_that_stays_away_ends_the_call_and_leaves_the_task(wire: Wire) -> None:
    with Toolbox(server(wire, "modern", ["die"])) as toolbox:
        with pytest.raises(ConnectionLostError):
            toolbox.call("wire_slow", timeout=1.0)
        [left] = toolbox.pending_tasks
        wire.rewrite(replies={"tasks/get": [modern("completed", result=OK)]})
        assert toolbox.resume_task(left).text == "done at last"
        assert toolbox.pending_tasks == ()

    assert wire.count("tools/call") == 1


@pytest.mark.parametrize("era", ["modern", "legacy"])
def test_a_kept_task_is_resumed_without_calling_again(wire: Wire, era: str) -> None:
    state = modern if era == "modern" else legacy
    gets = [state("working"), state("completed", result=OK)]
    kept = json.dumps(TaskState(server="wire", tool="slow", task_id="t1").to_json())
    with Toolbox(server(wire, era, gets, result=[{"result": OK}])) as toolbox:
        result = toolbox.resume_task(TaskState.from_json(json.loads(kept)))

    assert result.text == "done at last"
    assert wire.count("tools/call") == 0


def test_a_task_of_an_unknown_tool_or_of_a_closed_toolbox_is_refused(wire: Wire) -> None:
    with Toolbox(server(wire, "modern", [])) as toolbox:
        with pytest.raises(ToolNotFoundError):
            toolbox.resume_task(TaskState(server="wire", tool="gone", task_id="t1"))
    with pytest.raises(ToolboxClosedError):
        toolbox.cancel_pending_tasks()
