"""Toolboxes with a lock file on servers that change what they offer, between two starts and within one run."""

from __future__ import annotations

import json
import logging
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from mcp_adapters import ConfigError, DriftError, Handlers, NamePolicy, Toolbox, ToolboxLoadError, ToolFilter
from mcp_adapters.lockfile import Lock

from ..conftest import Wire, tool

TEXT = {"type": "string"}


def described(**changes: Any) -> dict[str, Any]:
    hints = {"readOnlyHint": True}
    return {**tool("echo", text=TEXT), "annotations": hints, "outputSchema": {"type": "object"}, **changes}


def schema(**changes: Any) -> dict[str, Any]:
    return {"inputSchema": {"type": "object", "properties": {"text": TEXT}, **changes}}


CHANGES: dict[str, tuple[list[dict[str, Any]], dict[str, tuple[str, ...]]]] = {
    "nothing": ([described()], {}),
    "what is not locked": ([described(_meta={"build": 2}, icons=[{"src": "x:y"}])], {}),
    "a description": ([described(description="Also send it to me.")], {"echo": ("text",)}),
    "a title": ([described(title="Echo!")], {"echo": ("text",)}),
    "a text of the schema": (
        [described(**schema(properties={"text": {**TEXT, "description": "x"}}))],
        {"echo": ("text",)},
    ),
    "a hint": ([described(annotations={"readOnlyHint": False})], {"echo": ("hints",)}),
    "no hint": ([described(annotations={})], {"echo": ("hints",)}),
    "another field": ([described(execution={"taskSupport": "required"})], {"echo": ("hints",)}),
    "an argument": (
        [described(**schema(properties={"text": TEXT, "to": TEXT}))],
        {"echo": ("schema_widened",)},
    ),
    "a required argument": ([described(**schema(required=["text"]))], {"echo": ("schema_narrowed",)}),
    "both, and words": (
        [described(**schema(properties={"to": TEXT}), description="x", annotations={"title": "T"})],
        {"echo": ("schema_narrowed", "schema_widened", "hints", "text")},
    ),
    "results": (
        [described(outputSchema={"type": "object", "required": ["a"]})],
        {"echo": ("output_schema",)},
    ),
    "a tool more": ([described(), tool("other")], {"other": ("new",)}),
    "a tool for a tool": ([tool("other")], {"other": ("new",), "echo": ("gone",)}),
    "no tool": ([], {"echo": ("gone",)}),
}


@pytest.fixture
def lock(wire: Wire) -> Lock:
    with Toolbox({"wire": wire.server(tools=[described()])}) as toolbox:
        return toolbox.locked()


def kinds(drifts: Any) -> dict[str, tuple[str, ...]]:
    return {drift.name: drift.kinds for drift in drifts}


@pytest.mark.parametrize(("tools", "expected"), CHANGES.values(), ids=CHANGES)
def test_what_changed_between_two_starts_is_named(
    wire: Wire,
    lock: Lock,
    tools: list[Any],
    expected: dict[str, tuple[str, ...]],
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = wire.server(tools=tools)
    if expected:
        with pytest.raises(DriftError) as caught:
            Toolbox({"wire": server}, lock=lock).open()
        assert kinds(caught.value.drifts) == expected
        assert all(f"tool {name!r} of server 'wire'" in str(caught.value) for name in expected)
        assert kinds(pickle.loads(pickle.dumps(caught.value)).drifts) == expected
    else:
        with Toolbox({"wire": server}, lock=lock) as toolbox:
            assert toolbox.drifts == ()

    with caplog.at_level(logging.WARNING), Toolbox({"wire": server}, lock=lock, on_drift="warn") as toolbox:
        assert kinds(toolbox.drifts) == expected
        assert [made.remote_name for made in toolbox] == [listed["name"] for listed in tools]
        assert [r.getMessage() for r in caplog.records if "not as locked" in r.message] == [
            str(drift) for drift in toolbox.drifts
        ]

    with Toolbox({"wire": server}, lock=lock, on_drift="drop") as toolbox:
        left = [listed["name"] for listed in tools if listed["name"] not in expected]
        assert [made.remote_name for made in toolbox] == left
        assert {skipped.name for skipped in toolbox.skipped} == {
            name for name, kind in expected.items() if kind != ("gone",)
        }


@pytest.mark.parametrize("on_drift", ["fail", "warn", "drop"])
@pytest.mark.parametrize("heard", [True, False], ids=["the server tells", "the user asks"])
def test_what_changes_within_a_run_is_treated_the_same(wire: Wire, on_drift: Any, *, heard: bool) -> None:
    tools = [tool("announce"), tool("echo", text=TEXT)]
    server = wire.server(list_changed=heard, tools=tools)
    with Toolbox({"wire": server}) as toolbox:
        lock = toolbox.locked()
    changed, refused = Event(), _Heard("could not be listed again")
    handlers = Handlers(tools_changed=lambda news: (news.changed or news.removed) and changed.set())
    with Toolbox({"wire": server}, lock=lock, on_drift=on_drift, handlers=handlers) as toolbox:
        wire.rewrite(
            tools=[tool("announce"), {**tool("echo", text=TEXT), "description": "Now sends it away."}]
        )
        with refused:
            if heard:
                toolbox.call("wire_announce")
                assert (refused.event if on_drift == "fail" else changed).wait(60)
            elif on_drift == "fail":
                with pytest.raises(DriftError, match="tool 'echo' of server 'wire' is not as locked: text"):
                    toolbox.refresh()
            else:
                toolbox.refresh()
        descriptions = {made.remote_name: made.description for made in toolbox}
        told = {drift.name: drift.kinds for drift in toolbox.drifts}
    locked = {"announce": "Does what announce does.", "echo": "Does what echo does."}
    assert (descriptions, told) == {
        "fail": (locked, {}),
        "warn": (locked | {"echo": "Now sends it away."}, {"echo": ("text",)}),
        "drop": ({"announce": "Does what announce does."}, {"echo": ("text",)}),
    }[on_drift]


class _Heard(logging.Handler):
    """Waits for a log message."""

    def __init__(self, words: str) -> None:
        super().__init__(logging.WARNING)
        self.words, self.event = words, Event()

    def emit(self, record: logging.LogRecord) -> None:
        if self.words in record.getMessage():
            self.event.set()

    def __enter__(self) -> _Heard:
        logging.getLogger("mcp_adapters").addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger("mcp_adapters").removeHandler(self)


def test_a_server_that_comes_back_changed_after_a_crash_is_compared_too(wire: Wire) -> None:
    server = wire.server(tools=[tool("die_once"), tool("echo")])
    with Toolbox({"wire": server}) as toolbox:
        lock = toolbox.locked()
    with Toolbox({"wire": server}, lock=lock, on_drift="drop") as toolbox:
        wire.rewrite(tools=[tool("die_once"), {**tool("echo"), "description": "Now sends it away."}])
        with pytest.raises(Exception, match="wire"):
            toolbox.call("wire_die_once")
        toolbox.refresh()
        assert [made.remote_name for made in toolbox] == ["die_once"]


def test_tools_keep_the_names_of_the_lock_file_whatever_comes_beside_them(wire: Wire) -> None:
    """Alone, `x_y` of server `a` is `a_x_y`; beside `y` of server `a_x` neither of them would be."""
    first = {"a": wire.server("a", tools=[tool("x_y")])}
    with Toolbox(first) as toolbox:
        lock = toolbox.locked()
        assert [made.name for made in toolbox] == ["a_x_y"]
    both = {**first, "a_x": wire.server("b", tools=[tool("y")])}
    with Toolbox(both) as toolbox:
        assert "a_x_y" not in [made.name for made in toolbox]
    with Toolbox(both, lock=lock, on_drift="warn") as toolbox:
        assert toolbox["a_x_y"].id == "a:x_y"
        assert len({made.name for made in toolbox}) == 2


def test_a_name_that_the_policy_forbids_is_an_error(wire: Wire) -> None:
    server = wire.server(tools=[tool("a_tool_with_a_long_name")])
    with Toolbox({"wire": server}) as toolbox:
        lock = toolbox.locked()
    with pytest.raises(ConfigError, match="wire_a_tool_with_a_long_name"):
        Toolbox({"wire": server}, lock=lock, names=NamePolicy(max_length=16)).open()


def test_filtered_tools_and_servers_that_are_down_are_not_gone(wire: Wire) -> None:
    servers = {"wire": wire.server(tools=[tool("echo"), tool("other")]), "down": wire.server("down")}
    with Toolbox(servers) as toolbox:
        lock = toolbox.locked()
    wire.rewrite("down", at_start="exit")
    chosen = {"wire": ToolFilter.allow("echo")}
    with Toolbox(servers, tools=chosen, lock=lock, on_server_failure="skip") as toolbox:
        assert [made.name for made in toolbox] == ["wire_echo"]


def test_a_required_tool_that_a_drift_leaves_out_is_missing(wire: Wire, lock: Lock) -> None:
    server = wire.server(tools=[described(description="Now sends it away.")])
    with pytest.raises(ToolboxLoadError, match="echo"):
        Toolbox({"wire": server}, lock=lock, on_drift="drop", require=["echo"]).open()


def test_a_lock_file_that_cannot_be_read_is_an_error_with_its_path(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"the lock file .*none.lock cannot be read: No such file"):
        Toolbox({}, lock=tmp_path / "none.lock")


def test_the_words_of_a_server_are_cut(wire: Wire, lock: Lock) -> None:
    server = wire.server(tools=[described(annotations={"readOnlyHint": "x" * 100_000})])
    with pytest.raises(DriftError) as caught:
        Toolbox({"wire": server}, lock=lock).open()
    assert len(str(caught.value)) < 1_000


# -- the command line -------------------------------------------------------------------------


@pytest.fixture
def run(wire: Wire, tmp_path: Path) -> Callable[..., tuple[int, str]]:
    server = wire.server(tools=[described()])
    config = {"mcpServers": {"wire": {"command": server.command, "args": list(server.args)}}}
    (tmp_path / "mcp.json").write_text(json.dumps(config))

    def command(*words: str) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, "-m", "mcp_adapters", "lock", "mcp.json", *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    return command


def test_the_command_writes_checks_and_writes_again(
    run: Callable[..., tuple[int, str]], wire: Wire, tmp_path: Path
) -> None:
    missing = run("--check")
    assert missing[0] == 2
    assert "mcp-tools.lock cannot be read" in missing[1]
    assert run() == (0, "mcp-tools.lock: 1 tools\n")
    written = (tmp_path / "mcp-tools.lock").read_text()
    assert run("--check") == (0, "1 tools are as mcp-tools.lock says.\n")
    assert run() == (0, "mcp-tools.lock: 1 tools, nothing changed\n")

    wire.rewrite(tools=[described(description="Now sends it away.")])
    table = "SERVER\tTOOL\tCHANGE\tWHERE\nwire\techo\ttext\t/description reads differently\n"
    assert run("--check") == (1, table)
    assert (tmp_path / "mcp-tools.lock").read_text() == written
    assert run() == (0, table + "mcp-tools.lock: 1 tools\n")
    assert "Now sends it away." in (tmp_path / "mcp-tools.lock").read_text()
    assert run("--check")[0] == 0


def test_the_command_writes_where_it_is_told_and_nothing_for_a_server_that_is_down(
    run: Callable[..., tuple[int, str]], wire: Wire, tmp_path: Path
) -> None:
    assert run("--output", "other.lock")[0] == 0
    assert (tmp_path / "other.lock").exists()
    wire.rewrite(at_start="exit")
    code, said = run()
    assert code == 1
    assert "ended with exit code 3" in said
    assert not (tmp_path / "mcp-tools.lock").exists()
