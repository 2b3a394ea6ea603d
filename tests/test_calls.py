"""What a toolbox's options do to calls, in plain Python and in both frameworks."""

from __future__ import annotations

import asyncio
import json
import logging
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage

from mcp_adapters import (
    ConfigError,
    InvalidResultError,
    Toolbox,
    ToolExecutionError,
    ToolResult,
    from_artifact,
)

from .conftest import Wire, tool
from .test_langchain import ScriptedModel, calling, said_by_tools
from .test_llamaindex import run, scripted

NUMBER = {"type": "integer"}
OUTPUT = {"type": "object", "properties": {"n": NUMBER}, "required": ["n"]}


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def invoked(native: Any, **arguments: Any) -> Any:
    return native.invoke({"type": "tool_call", "id": "1", "name": native.name, "args": arguments})


WRONG_OPTIONS = [
    ({"max_result_chars": 0}, "max_result_chars is 0; use a positive number, or None for no limit"),
    ({"max_result_chars": "all"}, "max_result_chars is 'all'; use a positive number, or None for no limit"),
    ({"max_identical_failures": -1}, "max_identical_failures is -1; use a positive number, or None"),
    ({"max_identical_failures": True}, "max_identical_failures is True; use a positive number, or None"),
    ({"structured": "yes"}, "structured is 'yes'; use one of 'auto', 'always', 'never'"),
    ({"output_schema": "error"}, "output_schema is 'error'; use one of 'strict', 'warn', 'off'"),
    ({"on_tool_error": "ignore"}, "on_tool_error is 'ignore'; use one of 'return', 'raise'"),
]


@pytest.mark.parametrize(
    ("options", "message"), WRONG_OPTIONS, ids=lambda v: "" if isinstance(v, str) else str(v)
)
def test_a_wrong_option_is_told_before_anything_starts(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Toolbox({}, **options)


# -- length ---------------------------------------------------------------------------------------


def test_a_long_text_reaches_models_with_head_tail_and_the_place_of_the_whole(wire: Wire) -> None:
    said = "a" * 60 + "z" * 60
    server = wire.server(tools=[tool("long")], answers={"long": {"result": {"content": [text(said)]}}})
    with Toolbox({"w": server}, max_result_chars=20) as toolbox:
        plain = toolbox.call("w_long")
        message = invoked(toolbox.to("langchain")[0])
        output = toolbox.to("llamaindex")[0].call()

    assert plain.text == said
    assert message.content == (
        f"{'a' * 10}\n[100 of 120 characters left out; the whole text is in the artifact of this tool message]\n"
        + "z" * 10
    )
    assert from_artifact(message.artifact).text == said
    assert output.content == (
        f"{'a' * 10}\n[100 of 120 characters left out; the whole text is in the raw_output of this tool output]\n"
        + "z" * 10
    )
    assert output.raw_output.text == said


def test_a_long_error_is_shortened_for_models_too(wire: Wire) -> None:
    said = "b" * 1000
    answers = {"refuse": {"error": {"code": -32603, "message": said}}}
    server = wire.server(tools=[tool("refuse")], answers=answers)
    with Toolbox({"w": server}, max_result_chars=100) as toolbox:
        message = invoked(toolbox.to("langchain")[0])
        output = toolbox.to("llamaindex")[0].call()

    whole = f"Error: server 'w' refused the call of 'refuse': {said}"
    assert message.content.startswith("Error: server 'w'")
    assert len(message.content) < 250
    assert message.artifact["message"] == whole
    assert output.content.startswith("Error: server 'w'")
    assert len(output.content) < 250
    assert output.raw_output.text == whole


@pytest.mark.parametrize("options", [{}, {"max_result_chars": None}], ids=["default", "none"])
def test_by_default_400_000_characters_reach_models_and_without_limit_all(
    wire: Wire, options: dict[str, Any]
) -> None:
    answers = {"long": {"result": {"content": [text("a" * 500_000)]}}}
    with Toolbox({"w": wire.server(tools=[tool("long")], answers=answers)}, **options) as toolbox:
        message = invoked(toolbox.to("langchain")[0])
        output = toolbox.to("llamaindex")[0].call()

    for content in (message.content, output.content):
        runs = [len(line) for line in content.split("\n") if line.startswith("aa")]
        assert runs == ([500_000] if options else [200_000, 200_000])


# -- structured content ---------------------------------------------------------------------------

STRUCTURE = '{"n": 1}'
MODES = [
    ("auto", "a summary", f"a summary\n{STRUCTURE}"),
    ("auto", STRUCTURE, STRUCTURE),
    ("always", STRUCTURE, f"{STRUCTURE}\n{STRUCTURE}"),
    ("never", "a summary", "a summary"),
]


@pytest.mark.parametrize(("mode", "said", "expected"), MODES)
def test_structured_decides_what_models_read_beside_the_content(
    wire: Wire, mode: Any, said: str, expected: str
) -> None:
    answers = {"s": {"result": {"content": [text(said)], "structuredContent": {"n": 1}}}}
    with Toolbox({"w": wire.server(tools=[tool("s")], answers=answers)}, structured=mode) as toolbox:
        plain = toolbox.call("w_s")
        message = invoked(toolbox.to("langchain")[0])
        output = toolbox.to("llamaindex")[0].call()

    assert plain.text == message.content == output.content == expected
    assert plain.structured == message.artifact["structured_content"] == {"n": 1}


# -- output schema --------------------------------------------------------------------------------

ANSWERS = {
    "right": {"content": [text("one")], "structuredContent": {"n": 1}},
    "wrong": {"content": [text("one")], "structuredContent": {"n": "one"}},
    "missing": {"content": [text("one")]},
    "failed": {"content": [text("one")], "structuredContent": {"n": "one"}, "isError": True},
}
REASONS = {"wrong": 'at /n: "one" is a string', "missing": "there is no structured content"}


def promising(wire: Wire, schema: Any = OUTPUT) -> Any:
    return wire.server(
        tools=[{**tool(name), "outputSchema": schema} for name in ANSWERS],
        answers={name: {"result": answer} for name, answer in ANSWERS.items()},
    )


def test_strict_raises_for_a_result_that_breaks_its_schema_and_keeps_the_result(wire: Wire) -> None:
    with Toolbox({"w": promising(wire)}, output_schema="strict") as toolbox:
        good = toolbox.call("w_right")
        failed = toolbox.call("w_failed")
        caught = {}
        for name in REASONS:
            with pytest.raises(InvalidResultError) as info:
                toolbox.call(f"w_{name}")
            caught[name] = info.value

    assert (good.structured, failed.is_error) == ({"n": 1}, True)
    for name, error in caught.items():
        assert str(error) == (
            f"the result of tool {name!r} of server 'w' does not match its output schema: {REASONS[name]}"
        )
        assert (error.server, error.tool, error.result.raw) == ("w", name, ANSWERS[name])
        assert [problem.pointer for problem in error.problems] == ["/n" if name == "wrong" else ""]


def test_under_strict_models_get_the_text_and_a_line_that_says_so(wire: Wire) -> None:
    with Toolbox({"w": promising(wire)}, output_schema="strict") as toolbox:
        chained = {native.name: native for native in toolbox.to("langchain")}
        indexed = {native.metadata.name: native for native in toolbox.to("llamaindex")}
        message, output = invoked(chained["w_wrong"]), indexed["w_wrong"].call()
        good, also_good = invoked(chained["w_right"]), indexed["w_right"].call()

    line = (
        "Error: the result of tool 'wrong' of server 'w' does not match its output schema: "
        'at /n: "one" is a string. The call was made; it may have had its effect.'
    )
    assert (message.content, message.status) == (f"one\n{line}", "error")
    assert message.artifact == {
        "structured_content": {"n": "one"},
        "is_error": True,
        "result": ANSWERS["wrong"],
        "error": "InvalidResultError",
        "message": message.content,
    }
    assert (output.content, output.is_error) == (f"Error: one\n{line}", True)
    assert isinstance(output.exception, InvalidResultError)
    assert output.raw_output.structured == {"n": "one"}
    assert (good.status, also_good.is_error) == ("success", False)


@pytest.mark.parametrize("mode", ["warn", "off"])
def test_warn_warns_once_for_each_tool_and_off_never(
    wire: Wire, mode: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with (
        Toolbox({"w": promising(wire)}, output_schema=mode) as toolbox,
        caplog.at_level(logging.WARNING, "mcp_adapters"),
    ):
        results = [toolbox.call(f"w_{name}") for name in (*ANSWERS, *ANSWERS)]
        toolbox.refresh()
        toolbox.call("w_wrong")

    assert [result.raw for result in results] == [*ANSWERS.values(), *ANSWERS.values()]
    assert [record.getMessage() for record in caplog.records] == [
        f"the result of tool {name!r} of server 'w' does not match its output schema: {reason}"
        for name, reason in REASONS.items()
        if mode == "warn"
    ]


def test_warn_warns_once_also_when_many_threads_call(wire: Wire, caplog: pytest.LogCaptureFixture) -> None:
    with (
        Toolbox({"w": promising(wire)}) as toolbox,
        caplog.at_level(logging.WARNING, "mcp_adapters"),
        ThreadPoolExecutor(8) as threads,
    ):
        list(threads.map(lambda _: toolbox.call("w_wrong"), range(40)))

    assert len(caplog.records) == 1


@pytest.mark.parametrize("mode", ["warn", "strict"])
@pytest.mark.parametrize("schema", [{"type": "objekt"}, {"type": "object", "$ref": "https://example.com/s"}])
def test_an_unusable_output_schema_prevents_nothing_and_is_told_once(
    wire: Wire, mode: Any, schema: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with (
        Toolbox({"w": promising(wire, schema)}, output_schema=mode) as toolbox,
        caplog.at_level(logging.WARNING, "mcp_adapters"),
    ):
        results = [toolbox.call("w_missing").text for _ in range(3)]

    assert results == ["one"] * 3
    [record] = caplog.records
    assert record.getMessage().startswith("the output schema of tool 'missing' of server 'w' cannot be used")


# -- identical failures ---------------------------------------------------------------------------


def test_a_call_that_failed_too_often_is_not_sent_again_until_the_tool_is_called_otherwise(
    wire: Wire,
) -> None:
    server = wire.server(tools=[tool("fail", n=NUMBER), tool("echo", n=NUMBER)])
    with Toolbox({"w": server}, max_identical_failures=2) as toolbox:
        for _ in range(2):
            assert toolbox.call("w_fail", {"n": 1}).is_error
        for _ in range(2):
            with pytest.raises(ToolExecutionError) as caught:
                toolbox.call("w_fail", {"n": 1})
        sent_before = wire.count("tools/call")
        toolbox.call("w_echo", {"n": 1})
        with pytest.raises(ToolExecutionError):
            toolbox.call("w_fail", {"n": 1})
        assert toolbox.call("w_fail", {"n": 2}).is_error
        assert toolbox.call("w_fail", {"n": 1}).is_error

    assert sent_before == 2
    assert wire.count("tools/call") == 5
    assert (caught.value.server, caught.value.tool, caught.value.result) == ("w", "fail", None)
    assert str(caught.value) == (
        "tool 'w_fail' was not called: it failed 2 times in a row with exactly these arguments; "
        "change the arguments, use another tool, or say that it cannot be done"
    )


def test_a_success_forgets_the_failures_before_it(wire: Wire) -> None:
    failed = {"result": {"content": [], "isError": True}}
    outcomes = iter([failed, {"result": {"content": []}}, failed, failed])
    calls: list[bool] = []
    with Toolbox({"w": wire.server(answers={"echo": failed})}, max_identical_failures=2) as toolbox:
        for outcome in outcomes:
            wire.rewrite(answers={"echo": outcome})
            calls.append(toolbox.call("w_echo").is_error)
        with pytest.raises(ToolExecutionError, match="2 times in a row"):
            toolbox.call("w_echo")

    assert calls == [True, False, True, True]


@pytest.mark.parametrize("name", ["refuse", "hang", "die", "echo"])
def test_every_kind_of_failure_counts(wire: Wire, name: str) -> None:
    """A JSON-RPC error, a timeout, a lost connection, wrong arguments."""
    server = wire.server(tools=[tool(name, n=NUMBER)])
    with Toolbox({"w": server}, max_identical_failures=1, call_timeout=3) as toolbox:
        native = toolbox.to("langchain")[0]
        messages = [invoked(native, **({"n": "x"} if name == "echo" else {})) for _ in range(2)]

    assert [message.status for message in messages] == ["error"] * 2
    assert "was not called: it failed once with exactly these arguments" not in messages[0].content
    assert "was not called: it failed once with exactly these arguments" in messages[1].content
    assert wire.count("tools/call") == (0 if name == "echo" else 1)


def test_by_default_nothing_is_counted(wire: Wire) -> None:
    with Toolbox({"w": wire.server(tools=[tool("fail")])}) as toolbox:
        assert all(toolbox.call("w_fail").is_error for _ in range(20))


async def test_a_cancelled_call_does_not_count(wire: Wire) -> None:
    async with Toolbox({"w": wire.server(tools=[tool("hang")])}, max_identical_failures=1) as toolbox:
        for _ in range(3):
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(toolbox.acall("w_hang"), 0.05)


def test_failures_are_counted_right_over_many_threads(wire: Wire) -> None:
    with Toolbox({"w": wire.server(tools=[tool("fail")])}, max_identical_failures=1000) as toolbox:
        with ThreadPoolExecutor(8) as threads:
            list(threads.map(lambda _: toolbox.call("w_fail"), range(200)))
        [(_, failures)] = toolbox._calls._repeats._failures.values()

    assert failures == 200


# -- a model that corrects itself -----------------------------------------------------------------


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_a_langchain_agent_with_wrong_arguments_succeeds_at_the_second_try(
    wire: Wire, asynchronous: bool
) -> None:
    model = ScriptedModel(
        script=[calling(("w_echo", {"n": "one"})), calling(("w_echo", {"n": 1})), AIMessage("done")]
    )
    async with Toolbox({"w": wire.server(tools=[tool("echo", n=NUMBER)])}) as toolbox:
        agent = create_agent(model, toolbox.to("langchain"))
        given = {"messages": [("user", "go")]}
        state = await agent.ainvoke(given) if asynchronous else agent.invoke(given)

    wrong, right = said_by_tools(state["messages"])
    assert (wrong.status, wrong.content) == (
        "error",
        (
            "Error: The arguments for w_echo are not valid; the tool was not called.\n"
            '- /n: "one" is a string. Accepted: integer.'
        ),
    )
    assert (
        json.loads(json.dumps(wrong.artifact))
        == wrong.artifact
        == {
            "structured_content": None,
            "is_error": True,
            "result": {},
            "error": "InvalidArgumentsError",
            "message": wrong.content,
        }
    )
    assert (right.status, right.content) == ("success", '{"n": 1}')
    assert wire.count("tools/call") == 1


async def test_a_llamaindex_agent_with_wrong_arguments_succeeds_at_the_second_try(wire: Wire) -> None:
    llm = scripted([("w_echo", {"n": "one"})], [("w_echo", {"n": 1})])
    async with Toolbox({"w": wire.server(tools=[tool("echo", n=NUMBER)])}) as toolbox:
        answer, results = await run(llm, toolbox.to("llamaindex"))

    assert answer == "done"
    assert [(one.tool_output.content, one.tool_output.is_error) for one in results] == [
        (
            (
                "Error: The arguments for w_echo are not valid; the tool was not called.\n"
                '- /n: "one" is a string. Accepted: integer.'
            ),
            True,
        ),
        ('{"n": 1}', False),
    ]
    assert wire.count("tools/call") == 1


async def test_a_llamaindex_output_of_a_failure_can_be_stored(wire: Wire) -> None:
    """Workflows write their state as JSON; an exception in it would not go."""
    async with Toolbox({"w": wire.server(tools=[tool("refuse")])}) as toolbox:
        output = toolbox.to("llamaindex")[0].call()

    stored = json.loads(output.model_dump_json())
    assert stored["raw_output"]["text"] == output.content
    assert isinstance(output.exception, ToolExecutionError)
    assert isinstance(output.raw_output, ToolResult)
