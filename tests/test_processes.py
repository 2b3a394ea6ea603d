"""Tools in other processes: what travels, and how a process gets connections of its own."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import pickle
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import cloudpickle
import pytest
from mcp.server.mcpserver import MCPServer

from mcp_adapters import (
    ConfigError,
    HttpServer,
    StdioServer,
    Tool,
    Toolbox,
    ToolboxClosedError,
    ToolNotFoundError,
    ToolsChange,
)

from .conftest import Wire, tool

SECRET = "s3cret-value"


def config(wire: Wire, key: str = "wire", **script: Any) -> dict[str, Any]:
    """A configuration as a plain dict, which may travel."""
    command, *args = wire.server(key, **script).argv()
    return {"mcpServers": {key: {"command": command, "args": args, "env": {"TOKEN": "${MCP_TEST_TOKEN}"}}}}


@pytest.fixture(autouse=True)
def token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCP_TEST_TOKEN", SECRET)


def ask(asked: Any, text: str) -> tuple[int, str]:
    """Call a tool of any kind in whatever process this runs in."""
    if isinstance(asked, Tool):
        return os.getpid(), asked.call({"text": text}).text
    if hasattr(asked, "metadata") and hasattr(asked, "acall"):
        return os.getpid(), asked.call(text=text).content
    return os.getpid(), asked.invoke({"text": text})


def asked_for(toolbox: Toolbox) -> dict[str, Any]:
    return {
        "plain": toolbox["wire_echo"],
        "langchain": toolbox.to("langchain")[0],
        "llamaindex": toolbox.to("llamaindex")[0],
    }


@pytest.mark.parametrize("kind", ["plain", "langchain", "llamaindex"])
@pytest.mark.parametrize("pickler", [pickle, cloudpickle])
def test_a_pickled_tool_holds_no_secret_and_finds_its_shared_toolbox(
    wire: Wire, kind: str, pickler: Any
) -> None:
    with Toolbox(config(wire)) as toolbox:
        packed = pickler.dumps(asked_for(toolbox)[kind])
        first, second = pickle.loads(packed), pickle.loads(packed)
        assert ask(first, "a")[1] == ask(second, "a")[1] == '{"text": "a"}'

    assert SECRET.encode() not in packed
    assert wire.starts() == 2, "one of the toolbox, one that both copies share"
    _close_shared()


def _close_shared() -> None:
    from mcp_adapters import _toolbox

    for toolbox in _toolbox._shared.values():
        toolbox.close()
    _toolbox._shared.clear()


@pytest.mark.filterwarnings("ignore:.*use of fork.*:DeprecationWarning")
@pytest.mark.parametrize("method", ["spawn", "fork"])
@pytest.mark.parametrize("kind", ["plain", "langchain", "llamaindex"])
def test_a_pool_of_processes_shares_one_connection_in_each_of_them(
    wire: Wire, method: str, kind: str
) -> None:
    with (
        Toolbox(config(wire)) as toolbox,
        ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as pool,
    ):
        mine = asked_for(toolbox)[kind]
        answers = [job.result() for job in [pool.submit(ask, mine, f"t{n}") for n in range(12)]]
        assert ask(mine, "here")[1] == '{"text": "here"}'

    assert [json.loads(text)["text"] for _, text in answers] == [f"t{n}" for n in range(12)]
    assert wire.starts() == 1 + len({pid for pid, _ in answers})


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:.*use of fork.*:DeprecationWarning")
def test_a_forked_child_uses_the_same_objects_over_connections_of_its_own(wire: Wire) -> None:
    with Toolbox(config(wire)) as toolbox:
        echo = toolbox["wire_echo"]
        reader, writer = os.pipe()
        if os.fork() == 0:
            try:
                os.write(writer, echo.call({"text": "child"}).text.encode())
                toolbox.close()
            finally:
                os._exit(0)
        os.wait()
        assert os.read(reader, 100) == b'{"text": "child"}'
        assert echo.call({"text": "parent"}).text == '{"text": "parent"}'
        os.close(reader)
        os.close(writer)

    assert wire.starts() == 2


def test_a_toolbox_from_another_process_stays_closed_once_it_was_closed(wire: Wire) -> None:
    copy = pickle.loads(pickle.dumps(Toolbox(config(wire))))
    tool_there = copy["wire_echo"]
    copy.close()

    with pytest.raises(ToolboxClosedError):
        tool_there.call({"text": "a"})
    assert wire.starts() == 1
    _close_shared()


async def test_a_pickled_tool_is_called_asynchronously_too(wire: Wire) -> None:
    async with Toolbox(config(wire)) as toolbox:
        copy = pickle.loads(pickle.dumps(toolbox["wire_echo"]))
        assert (await copy.acall({"text": "a"})).text == '{"text": "a"}'
    await asyncio.to_thread(_close_shared)


def test_a_worker_pool_of_dask_runs_tools_of_both_frameworks(wire: Wire, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="Dask's distributed is not installed")
    with (
        Toolbox(config(wire)) as toolbox,
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=2,
            processes=True,
            dashboard_address="127.0.0.1:0",
            local_directory=str(tmp_path),
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        natives = [toolbox.to("langchain")[0], toolbox.to("llamaindex")[0]]
        jobs = [client.submit(ask, natives[n % 2], f"t{n}", pure=False) for n in range(20)]
        answers = client.gather(jobs)

    assert [json.loads(text)["text"] for _, text in answers] == [f"t{n}" for n in range(20)]
    assert wire.starts() == 1 + len({pid for pid, _ in answers})


@pytest.mark.parametrize(
    ("servers", "field"),
    [
        ({"s": {"command": "x", "env": {"TOKEN": SECRET}}}, "env.TOKEN"),
        ({"s": {"command": "x", "install": {"command": "y", "env": {"T": SECRET}}}}, "install.env.T"),
        (
            {"mcpServers": {"s": {"url": "http://127.0.0.1/", "headers": {"Authorization": SECRET}}}},
            "headers.Authorization",
        ),
        (
            {"s": {"url": "http://127.0.0.1/", "oauth": {"clientId": "me", "clientSecret": SECRET}}},
            "oauth.clientSecret",
        ),
        ({"s": StdioServer(command="x", env={"TOKEN": SECRET})}, "secrets"),
        ({"s": HttpServer(url="http://127.0.0.1/", headers={"A": SECRET})}, "secrets"),
        ({"s": HttpServer(url="http://127.0.0.1/", auth=SECRET)}, "secrets"),
        ({"s": MCPServer("here")}, "MCPServer"),
    ],
)
def test_what_may_not_travel_is_named_without_being_shown(servers: dict[str, Any], field: str) -> None:
    with pytest.raises(ConfigError, match=field) as caught:
        pickle.dumps(Toolbox(servers))

    assert caught.value.server == "s"
    assert SECRET not in str(caught.value)


def test_a_path_travels_as_an_absolute_one(
    wire: Wire, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mcp.json").write_text(json.dumps(config(wire)))
    monkeypatch.chdir(tmp_path)
    packed = pickle.dumps(Toolbox("mcp.json"))
    monkeypatch.chdir("/")

    assert pickle.loads(packed).call("wire_echo", {"text": "a"}).text == '{"text": "a"}'
    _close_shared()


# -- stored listings ----------------------------------------------------------------------------------


def test_a_toolbox_with_stored_listings_starts_a_server_only_when_it_is_called(wire: Wire) -> None:
    server = wire.server(tools=[tool("echo"), tool("other")])
    with Toolbox({"wire": server}) as toolbox:
        stored = json.loads(json.dumps(toolbox.listings()))
        names = [one.name for one in toolbox]
    with Toolbox({"wire": server}, listings=stored) as toolbox:
        assert [one.name for one in toolbox] == names
        assert toolbox.status["wire"].state == "new"
        assert wire.starts() == 1
        assert toolbox.call("wire_echo").text == "{}"
        assert toolbox.status["wire"].state == "ready"

    assert (wire.starts(), wire.count("tools/list"), wire.count("tools/call")) == (2, 2, 1)


def test_a_stored_listing_that_is_out_of_date_is_noticed_before_the_call(wire: Wire) -> None:
    server = wire.server(tools=[tool("echo"), tool("gone")])
    with Toolbox({"wire": server}) as toolbox:
        stored = toolbox.listings()
    wire.rewrite(tools=[tool("echo"), tool("new")])
    with Toolbox({"wire": server}, listings=stored) as toolbox:
        with pytest.raises(ToolNotFoundError, match="no longer offers the tool 'gone'"):
            toolbox.call("wire_gone")
        assert [one.name for one in toolbox] == ["wire_echo", "wire_new"]
        assert toolbox.refresh() == ToolsChange()

    assert wire.count("tools/call") == 0


def test_a_program_that_forgets_to_close_leaves_nothing_behind(wire: Wire, tmp_path: Path) -> None:
    import subprocess

    program = tmp_path / "program.py"
    program.write_text(
        "import json, sys\nfrom mcp_adapters import Toolbox\n"
        "toolbox = Toolbox(json.loads(sys.argv[1])).open()\nprint(toolbox.call('wire_echo', {'text': 'a'}).text)\n"
    )
    done = subprocess.run(
        [sys.executable, str(program), json.dumps(config(wire))],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    assert (done.stdout, done.stderr) == ('{"text": "a"}\n', "")
    [start] = [event for event in wire.events() if event["event"] == "start"]
    assert not Path(f"/proc/{start['pid']}").exists()
