"""Interceptors: what they see and may change, where they run, and what their failures do."""

from __future__ import annotations

import asyncio
import itertools
import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt
from llama_index.core.instrumentation.dispatcher import instrument_tags

from mcp_adapters import (
    AsyncCallNext,
    CallNext,
    CallRequest,
    ConfigError,
    HttpServer,
    InvalidArgumentsError,
    SyncCallInEventLoopError,
    ToolAnnotations,
    Toolbox,
    ToolExecutionError,
    ToolResult,
)
from mcp_adapters._portal import guests, portal

from .conftest import Wire, tool
from .http_server import http_server
from .test_langchain import ScriptedModel, calling, said_by_tools

NUMBER = {"type": "integer"}
MIXES = [mix for size in (1, 2, 3) for mix in itertools.product(["sync", "async"], repeat=size)]


@pytest.fixture
def open_with(wire: Wire) -> Iterator[Callable[..., Toolbox]]:
    """A toolbox with one server that has the tools `echo` and `fail`, and with some interceptors."""
    opened: list[Toolbox] = []

    def make(*interceptors: Any, **options: Any) -> Toolbox:
        tools = [{**tool("echo", n=NUMBER), "annotations": {"readOnlyHint": True}}, tool("fail")]
        toolbox = Toolbox({"w": wire.server(tools=tools)}, interceptors=interceptors, **options)
        opened.append(toolbox)
        return toolbox.open()

    yield make
    for toolbox in opened:
        toolbox.close()


def adding(label: str, kind: str, trail: list[str]) -> Any:
    """An interceptor that adds 1 to the argument and its label to the text, and leaves a trail."""

    def changed(request: CallRequest) -> CallRequest:
        trail.append(f"{label} in")
        return request.override(arguments={"n": request.arguments["n"] + 1})

    def marked(result: ToolResult) -> ToolResult:
        trail.append(f"{label} out")
        return ToolResult(text=f"{result.text} {label}")

    def synchronous(request: CallRequest, call_next: CallNext) -> ToolResult:
        return marked(call_next(changed(request)))

    async def asynchronous(request: CallRequest, call_next: AsyncCallNext) -> ToolResult:
        return marked(await call_next(changed(request)))

    return synchronous if kind == "sync" else asynchronous


@pytest.mark.parametrize("mix", MIXES, ids="-".join)
async def test_any_mix_runs_in_order_from_sync_and_async_calls_also_while_a_loop_runs(
    open_with: Callable[..., Toolbox], mix: tuple[str, ...]
) -> None:
    """First is outermost; arguments go inwards, results outwards."""
    trail: list[str] = []
    labels = "abc"[: len(mix)]
    toolbox = open_with(*(adding(label, kind, trail) for label, kind in zip(labels, mix, strict=True)))
    expected = " ".join([json.dumps({"n": len(mix)}), *reversed(labels)])
    order = [*(f"{label} in" for label in labels), *(f"{label} out" for label in reversed(labels))]

    assert (await toolbox.acall("w_echo", {"n": 0})).text == expected
    assert toolbox.call("w_echo", {"n": 0}).text == expected  # this thread's own loop runs
    assert (await asyncio.to_thread(toolbox.call, "w_echo", {"n": 0})).text == expected
    assert await asyncio.to_thread(lambda: asyncio.run(toolbox.acall("w_echo", {"n": 0}))) == ToolResult(
        text=expected
    )
    assert trail == order * 4


def test_an_interceptor_sees_the_server_the_tool_and_the_arguments(
    open_with: Callable[..., Toolbox],
) -> None:
    seen: list[CallRequest] = []

    def look(request: CallRequest, call_next: CallNext) -> ToolResult:
        seen.append(request)
        return call_next(request)

    toolbox = open_with(look)
    toolbox.call("w_echo", {"n": 1})
    toolbox["w_fail"].call(context={"user": "ada"})

    assert seen == [
        CallRequest(
            server="w",
            tool="echo",
            exposed_name="w_echo",
            arguments={"n": 1},
            annotations=ToolAnnotations(read_only=True),
        ),
        CallRequest(server="w", tool="fail", exposed_name="w_fail", context={"user": "ada"}),
    ]


def test_arguments_are_validated_after_the_interceptors(
    open_with: Callable[..., Toolbox], wire: Wire
) -> None:
    def set_to(value: Any) -> Any:
        return lambda request, call_next: call_next(request.override(arguments={"n": value}))

    good, bad = open_with(set_to(1)), open_with(set_to("many"))
    assert good.call("w_echo", {"n": "many"}).text == '{"n": 1}'
    calls = (
        wire.count("tools/call", "w") if (wire._folder / "w.ledger").exists() else wire.count("tools/call")
    )
    with pytest.raises(InvalidArgumentsError, match="/n"):
        bad.call("w_echo", {"n": 1})
    assert wire.count("tools/call") == calls


def test_changing_the_request_in_place_leaves_the_callers_arguments_alone(
    open_with: Callable[..., Toolbox],
) -> None:
    def meddle(request: CallRequest, call_next: CallNext) -> ToolResult:
        request.arguments["n"] = 2  # type: ignore[index]
        return call_next(request)

    mine = {"n": 1}
    assert open_with(meddle).call("w_echo", mine).text == '{"n": 2}'
    assert mine == {"n": 1}


def test_a_cache_answers_without_the_server(open_with: Callable[..., Toolbox], wire: Wire) -> None:
    answers: dict[str, ToolResult] = {}

    def cached(request: CallRequest, call_next: CallNext) -> ToolResult:
        key = json.dumps(request.arguments)
        if key not in answers:
            answers[key] = call_next(request)
        return answers[key]

    toolbox = open_with(cached)
    texts = [toolbox.call("w_echo", {"n": n}).text for n in (1, 1, 2, 1)]

    assert texts == ['{"n": 1}', '{"n": 1}', '{"n": 2}', '{"n": 1}']
    assert wire.count("tools/call") == 2


def test_a_retry_of_a_failed_result_sends_again(open_with: Callable[..., Toolbox], wire: Wire) -> None:
    def thrice(request: CallRequest, call_next: CallNext) -> ToolResult:
        return [call_next(request) for _ in range(3)][-1]

    assert open_with(thrice, max_identical_failures=2).call("w_fail").is_error
    assert wire.count("tools/call") == 3


@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_a_denial_reaches_the_model_of_both_frameworks_and_is_not_sent(
    open_with: Callable[..., Toolbox], wire: Wire, kind: str
) -> None:
    def deny(request: CallRequest, call_next: CallNext) -> ToolResult:
        raise ToolExecutionError(f"the user does not want {request.tool!r} to be called", tool=request.tool)

    async def deny_later(request: CallRequest, call_next: AsyncCallNext) -> ToolResult:
        await asyncio.sleep(0)
        raise ToolExecutionError(f"the user does not want {request.tool!r} to be called", tool=request.tool)

    toolbox = open_with(deny if kind == "sync" else deny_later)
    chained, indexed = toolbox.to("langchain")[0], toolbox.to("llamaindex")[0]
    call = {"type": "tool_call", "id": "1", "name": "w_echo", "args": {"n": 1}}
    text = "Error: the user does not want 'echo' to be called"

    for message in (chained.invoke(call), await chained.ainvoke(call)):
        assert (message.content, message.status) == (text, "error")
    for output in (indexed.call(n=1), await indexed.acall(n=1)):
        assert (output.content, output.is_error) == (text, True)
    assert wire.count("tools/call") == 0


class OfTheProgramError(Exception):
    """An error that has nothing to do with tools."""


@pytest.mark.parametrize("error", [OfTheProgramError("mine"), SystemExit(3), KeyboardInterrupt()], ids=repr)
@pytest.mark.parametrize("kind", ["sync", "async"])
@pytest.mark.parametrize("outer", ["nothing", "sync", "async"])
def test_an_error_of_the_program_is_raised_to_it_and_the_next_call_works(
    open_with: Callable[..., Toolbox], error: BaseException, kind: str, outer: str
) -> None:
    armed = [True]

    def fail(request: CallRequest, call_next: CallNext) -> ToolResult:
        if armed[0]:
            raise error
        return call_next(request)

    async def fail_later(request: CallRequest, call_next: AsyncCallNext) -> ToolResult:
        if armed[0]:
            raise error
        return await call_next(request)

    before = [] if outer == "nothing" else [adding("a", outer, [])]
    toolbox = open_with(*before, fail if kind == "sync" else fail_later)
    chained, indexed = toolbox.to("langchain")[0], toolbox.to("llamaindex")[0]
    for make in (
        lambda: toolbox.call("w_echo", {"n": 1}),
        lambda: chained.invoke({"type": "tool_call", "id": "1", "name": "w_echo", "args": {"n": 1}}),
        lambda: indexed.call(n=1),
    ):
        with pytest.raises(type(error)) as caught:
            make()
        assert caught.value is error
    armed[0] = False
    assert toolbox.call("w_echo", {"n": 1}).text.startswith("{")


@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_an_error_of_the_program_is_raised_to_whoever_awaits(
    open_with: Callable[..., Toolbox], kind: str
) -> None:
    error = OfTheProgramError("mine")

    def fail(request: CallRequest, call_next: CallNext) -> ToolResult:
        raise error

    async def fail_later(request: CallRequest, call_next: AsyncCallNext) -> ToolResult:
        raise error

    toolbox = open_with(fail if kind == "sync" else fail_later)
    chained, indexed = toolbox.to("langchain")[0], toolbox.to("llamaindex")[0]
    for made in (
        toolbox.acall("w_echo", {"n": 1}),
        chained.ainvoke({"type": "tool_call", "id": "1", "name": "w_echo", "args": {"n": 1}}),
        indexed.acall(n=1),
    ):
        with pytest.raises(OfTheProgramError) as caught:
            await made
        assert caught.value is error


def returns_nothing(request: CallRequest, call_next: CallNext) -> Any:
    call_next(request)


async def returns_nothing_later(request: CallRequest, call_next: AsyncCallNext) -> Any:
    await call_next(request)


def forgets_to_await(request: CallRequest, call_next: CallNext) -> Any:
    return returns_nothing_later(request, call_next)  # type: ignore[arg-type]


def passes_on_nothing(request: CallRequest, call_next: CallNext) -> ToolResult:
    return call_next(None)  # type: ignore[arg-type]


def passes_on_another_tool(request: CallRequest, call_next: CallNext) -> ToolResult:
    return call_next(CallRequest(server="w", tool="fail", exposed_name="w_fail"))


def passes_on_a_bad_header(request: CallRequest, call_next: CallNext) -> ToolResult:
    return call_next(request.override(headers={"x-key": "secret\r\nx-other: 1"}))


MISTAKES = [
    (returns_nothing, TypeError, "'returns_nothing' returned a NoneType, no ToolResult"),
    (returns_nothing_later, TypeError, "'returns_nothing_later' returned a NoneType, no ToolResult"),
    (forgets_to_await, TypeError, "define it with 'async def' if it awaits"),
    (passes_on_nothing, TypeError, "'passes_on_nothing' passed on a NoneType, no CallRequest"),
    (passes_on_another_tool, ValueError, "'passes_on_another_tool' passed on a request for another tool"),
    (passes_on_a_bad_header, ValueError, "the header 'x-key' has a name or a value that HTTP cannot carry"),
]


@pytest.mark.parametrize(
    ("interceptor", "kind", "message"), MISTAKES, ids=lambda v: getattr(v, "__name__", "")
)
async def test_a_mistake_in_an_interceptor_is_told_to_the_program(
    open_with: Callable[..., Toolbox], interceptor: Any, kind: type[Exception], message: str
) -> None:
    toolbox = open_with(interceptor)
    with pytest.raises(kind, match=message) as caught:
        toolbox.call("w_echo", {"n": 1})
    with pytest.raises(kind, match=message):
        await toolbox.acall("w_echo", {"n": 1})
    assert "secret" not in str(caught.value)


def test_what_cannot_be_called_is_no_interceptor() -> None:
    with pytest.raises(ConfigError, match="interceptors must be functions"):
        Toolbox({}, interceptors=["audit"])  # type: ignore[list-item]


class Counting:
    """An object as interceptor."""

    def __init__(self) -> None:
        self.calls = 0

    async def __call__(self, request: CallRequest, call_next: AsyncCallNext) -> ToolResult:
        self.calls += 1
        return await call_next(request)


async def test_an_object_with_an_async_call_is_an_async_interceptor(
    open_with: Callable[..., Toolbox],
) -> None:
    counting = Counting()
    toolbox = open_with(counting)
    toolbox.call("w_echo", {"n": 1})
    await toolbox.acall("w_echo", {"n": 1})
    assert counting.calls == 2


# -- where they run -------------------------------------------------------------------------------


async def test_in_an_async_call_async_ones_run_on_the_callers_loop_and_sync_ones_beside_it(
    open_with: Callable[..., Toolbox],
) -> None:
    here: list[Any] = []

    async def on_loop(request: CallRequest, call_next: AsyncCallNext) -> ToolResult:
        here.append((asyncio.get_running_loop(), threading.get_ident()))
        return await call_next(request)

    def beside(request: CallRequest, call_next: CallNext) -> ToolResult:
        here.append(threading.get_ident())
        return call_next(request)

    await open_with(beside, on_loop, beside, on_loop).acall("w_echo", {"n": 1})
    this = (asyncio.get_running_loop(), threading.get_ident())

    assert (here[1], here[3]) == (this, this)
    assert threading.get_ident() not in (here[0], here[2])


def test_in_a_sync_call_sync_ones_run_in_the_calling_thread_and_async_ones_always_on_one_loop(
    open_with: Callable[..., Toolbox],
) -> None:
    threads: list[int] = []
    loops: list[asyncio.AbstractEventLoop] = []

    def in_thread(request: CallRequest, call_next: CallNext) -> ToolResult:
        threads.append(threading.get_ident())
        return call_next(request)

    async def on_loop(request: CallRequest, call_next: AsyncCallNext) -> ToolResult:
        loops.append(asyncio.get_running_loop())
        return await call_next(request)

    toolbox = open_with(in_thread, on_loop)
    for _ in range(2):
        toolbox.call("w_echo", {"n": 1})

    assert threads == [threading.get_ident()] * 2
    assert loops[0] is loops[1] is guests()._loop
    assert loops[0] is not portal()._loop


async def test_many_calls_at_once_through_many_interceptors_do_not_wait_for_each_other(
    open_with: Callable[..., Toolbox],
) -> None:
    """More calls than any pool has threads, all of them in the innermost interceptor at one time."""
    calls = 40
    gate = threading.Barrier(calls, timeout=60)

    def through(request: CallRequest, call_next: CallNext) -> ToolResult:
        return call_next(request)

    async def through_later(request: CallRequest, call_next: AsyncCallNext) -> ToolResult:
        return await call_next(request)

    def innermost(request: CallRequest, call_next: CallNext) -> ToolResult:
        gate.wait()
        return call_next(request)

    toolbox = open_with(through, through_later, innermost)
    texts = [
        result.text
        for result in await asyncio.gather(*(toolbox.acall("w_echo", {"n": n}) for n in range(calls)))
    ]
    with ThreadPoolExecutor(calls) as threads:
        results = threads.map(lambda n: toolbox.call("w_echo", {"n": n}), range(calls))

    assert texts == [result.text for result in results] == [json.dumps({"n": n}) for n in range(calls)]


def test_an_interceptor_may_call_tools_itself_synchronously_and_asynchronously(
    open_with: Callable[..., Toolbox],
) -> None:
    toolbox: Toolbox

    def twice(request: CallRequest, call_next: CallNext) -> ToolResult:
        if request.tool == "fail":
            return call_next(request)
        return ToolResult(text=toolbox.call("w_fail").text + call_next(request).text)

    async def twice_later(request: CallRequest, call_next: AsyncCallNext) -> ToolResult:
        if request.tool == "fail":
            return await call_next(request)
        return ToolResult(text=(await toolbox.acall("w_fail")).text + (await call_next(request)).text)

    for interceptors in ((twice,), (twice_later,), (twice, twice_later), (twice_later, twice)):
        toolbox = open_with(*interceptors)
        assert toolbox.call("w_echo", {"n": 1}).text.endswith('it did not work{"n": 1}')


def test_a_blocking_call_on_a_loop_that_it_would_wait_for_is_refused(
    open_with: Callable[..., Toolbox],
) -> None:
    toolbox: Toolbox

    async def blocking(request: CallRequest, call_next: AsyncCallNext) -> ToolResult:
        return await call_next(request) if request.tool == "fail" else toolbox.call("w_fail")

    async def call_here() -> ToolResult:
        return toolbox.call("w_echo", {"n": 1})

    toolbox = open_with(blocking)
    with pytest.raises(SyncCallInEventLoopError):
        toolbox.call("w_echo", {"n": 1})
    with pytest.raises(SyncCallInEventLoopError):
        portal().run(call_here)


@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_cancelling_a_call_ends_its_interceptors_and_what_they_called(wire: Wire, kind: str) -> None:
    """The interceptor repeats on every ordinary error; a cancellation is none."""
    ended: list[str] = []
    over = threading.Event()

    def stubborn(request: CallRequest, call_next: CallNext) -> ToolResult:
        try:
            while True:
                try:
                    return call_next(request)
                except Exception:
                    ended.append("repeats")
        except BaseException as error:
            ended.append(type(error).__name__)
            raise
        finally:
            over.set()

    async def stubborn_later(request: CallRequest, call_next: AsyncCallNext) -> ToolResult:
        try:
            return await call_next(request)
        except BaseException as error:
            ended.append(type(error).__name__)
            raise
        finally:
            over.set()

    interceptor = stubborn if kind == "sync" else stubborn_later
    server = wire.server(tools=[tool("hang"), tool("echo")])
    async with Toolbox({"w": server}, interceptors=[interceptor]) as toolbox:
        call = asyncio.create_task(toolbox.acall("w_hang"))
        while not wire.count("tools/call"):
            await asyncio.sleep(0.01)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert await asyncio.to_thread(over.wait, 30)
        assert (await toolbox.acall("w_echo")).text == "{}"

    assert ended == ["CancelledError"]
    assert wire.count("notifications/cancelled") == 1


WHO: ContextVar[str] = ContextVar("who", default="nobody")


@pytest.mark.parametrize("mix", [("sync", "async"), ("async", "sync")], ids="-".join)
async def test_context_variables_reach_every_interceptor(
    open_with: Callable[..., Toolbox], mix: tuple[str, ...]
) -> None:
    seen: list[str] = []

    def look(request: CallRequest, call_next: CallNext) -> ToolResult:
        seen.append(WHO.get())
        return call_next(request)

    async def look_later(request: CallRequest, call_next: AsyncCallNext) -> ToolResult:
        seen.append(WHO.get())
        return await call_next(request)

    toolbox = open_with(*(look if kind == "sync" else look_later for kind in mix))
    WHO.set("ada")
    toolbox.call("w_echo", {"n": 1})
    await toolbox.acall("w_echo", {"n": 1})
    assert seen == ["ada"] * 4


# -- headers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_headers_go_with_their_own_call_and_no_other(asynchronous: bool) -> None:
    """Also when several calls are under way; over the server's own headers; never into the handshake."""

    def signed(request: CallRequest, call_next: CallNext) -> ToolResult:
        if request.arguments["n"] == 0:
            return call_next(request)
        return call_next(request.override(headers={"x-user": str(request.arguments["n"]), "X-TEAM": "other"}))

    with http_server([tool("echo", n=NUMBER)]) as seen:
        server = HttpServer(url=seen.url, headers={"x-team": "own", "x-kept": "yes"})
        async with Toolbox({"w": server}, interceptors=[signed]) as toolbox:
            if asynchronous:
                await asyncio.gather(*(toolbox.acall("w_echo", {"n": n}) for n in range(3)))
            else:
                for n in range(3):
                    toolbox.call("w_echo", {"n": n})

    sent = zip(*(seen.headers("tools/call", name) for name in ("x-user", "x-team", "x-kept")), strict=True)
    assert sorted(sent, key=str) == [
        ("1", "other", "yes"),
        ("2", "other", "yes"),
        (None, "own", "yes"),
    ]
    others = [headers for method, headers in seen.requests if method != "tools/call"]
    assert others
    assert all("x-user" not in headers and headers.get("x-team", "own") == "own" for headers in others)


async def test_a_connection_that_is_made_again_for_a_call_does_not_keep_its_headers(wire: Wire) -> None:
    def signed(request: CallRequest, call_next: CallNext) -> ToolResult:
        return call_next(request.override(headers={"x-user": "ada"}))

    with http_server([tool("echo", n=NUMBER)]) as seen:
        async with Toolbox({"w": HttpServer(url=seen.url)}, interceptors=[signed]) as toolbox:
            link = toolbox._engine.connections["w"]._link
            assert link is not None
            await portal().arun(link.close)
            seen.requests.clear()
            await toolbox.acall("w_echo", {"n": 1})

    assert [headers.get("x-user") for _, headers in seen.requests] == [
        "ada" if method == "tools/call" else None for method, _ in seen.requests
    ]
    assert "initialize" in [method for method, _ in seen.requests]


def test_a_request_shows_neither_headers_nor_context() -> None:
    request = CallRequest(
        server="w",
        tool="echo",
        exposed_name="w_echo",
        headers={"Authorization": "Bearer s3cret"},
        context={"configurable": {"key": "s3cret"}},
    )
    assert "s3cret" not in repr(request)


def test_overriding_a_header_replaces_it_in_any_case_and_keeps_the_others() -> None:
    request = CallRequest(
        server="w", tool="t", exposed_name="w_t", arguments={"n": 1}, headers={"A": "1", "b": "2"}
    )

    changed = request.override(headers={"a": "3"})

    assert (changed.headers, changed.arguments) == ({"b": "2", "a": "3"}, {"n": 1})
    assert request.headers == {"A": "1", "b": "2"}


# -- what frameworks tell -------------------------------------------------------------------------


async def test_langchain_tells_the_run_of_a_call(open_with: Callable[..., Toolbox]) -> None:
    seen: list[dict[str, Any]] = []

    def look(request: CallRequest, call_next: CallNext) -> ToolResult:
        seen.append(dict(request.context))
        return call_next(request)

    native = open_with(look).to("langchain")[0]
    call = {"type": "tool_call", "id": "call-1", "name": "w_echo", "args": {"n": 1}}
    config: RunnableConfig = {"tags": ["t"], "metadata": {"m": 1}, "configurable": {"user": "ada"}}
    native.invoke(call, config)
    await native.ainvoke(call, config)
    native.invoke({"n": 1})

    for context in seen[:2]:
        assert (context["tool_call_id"], context["tags"], context["configurable"]) == (
            "call-1",
            ("t",),
            {"user": "ada"},
        )
        assert context["metadata"]["m"] == 1
    assert seen[0]["run_id"] != seen[1]["run_id"]
    assert (seen[2]["tool_call_id"], seen[2]["tags"], seen[2]["configurable"]) == (None, (), {})


async def test_llamaindex_tells_the_span_and_the_tags_of_a_call(open_with: Callable[..., Toolbox]) -> None:
    seen: list[dict[str, Any]] = []

    async def look(request: CallRequest, call_next: AsyncCallNext) -> ToolResult:
        seen.append(dict(request.context))
        return await call_next(request)

    native = open_with(look).to("llamaindex")[0]
    with instrument_tags({"user": "ada"}):
        native.call(n=1)
        await native.acall(n=1)

    assert [context["tags"] for context in seen] == [{"user": "ada"}] * 2
    assert all(context["span_id"] for context in seen)


@pytest.mark.parametrize("kind", ["sync", "async"])
@pytest.mark.parametrize("asynchronous", [False, True])
async def test_an_approval_can_interrupt_a_langgraph_run_and_go_on_with_it(
    open_with: Callable[..., Toolbox], wire: Wire, kind: str, asynchronous: bool
) -> None:
    """LangGraph's interrupt is an exception that must pass through everything."""

    def approved(request: CallRequest, call_next: CallNext) -> ToolResult:
        answer = interrupt({"call": request.tool})
        return call_next(request) if answer == "yes" else ToolResult(text="no", is_error=True)

    async def approved_later(request: CallRequest, call_next: AsyncCallNext) -> ToolResult:
        answer = interrupt({"call": request.tool})
        return await call_next(request) if answer == "yes" else ToolResult(text="no", is_error=True)

    toolbox = open_with(approved if kind == "sync" else approved_later)
    model = ScriptedModel(script=[calling(("w_echo", {"n": 1})), AIMessage("done")])
    agent = create_agent(model, toolbox.to("langchain"), checkpointer=InMemorySaver())
    config: RunnableConfig = {"configurable": {"thread_id": "1"}}

    async def go(given: Any) -> Any:
        return await agent.ainvoke(given, config) if asynchronous else agent.invoke(given, config)

    paused = await go({"messages": [("user", "go")]})
    assert [stop.value for stop in paused["__interrupt__"]] == [{"call": "echo"}]
    assert wire.count("tools/call") == 0
    state = await go(Command(resume="yes"))
    assert [m.content for m in said_by_tools(state["messages"])] == ['{"n": 1}']
    assert wire.count("tools/call") == 1
