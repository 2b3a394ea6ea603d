"""The diagram agent: with a server by address, by command, with one that does not start, and without any."""

from __future__ import annotations

import base64
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from examples.diagrams import agent
from mcp_adapters import HttpServer, StdioServer
from mcp_adapters.testing import ScriptedServer, image

from ..sandbox.test_bubblewrap import ADVERSARY, PYTHON, REASON
from ..test_llamaindex import scripted

PNG = b"\x89PNG\r\n\x1a\n-a-diagram"


async def test_the_agent_draws_with_a_server() -> None:
    server = ScriptedServer()
    server.tool(
        "draw", image(PNG, text="drawn"), schema={"type": "object", "properties": {"of": {"type": "string"}}}
    )
    with server:
        async with agent.drawing(server) as toolbox:
            said = await agent.answer("How?", scripted([("diagrams_draw", {"of": "a request"})]), toolbox)

    assert server.calls == [("draw", {"of": "a request"})]
    assert [base64.b64decode(one.data) for one in said.images] == [PNG]


async def test_a_command_draws_too() -> None:
    command = shlex.join([sys.executable, "-m", "mcp_adapters.demo.notes_server", ":memory:"])
    async with agent.drawing(agent.diagram_server({"DIAGRAM_MCP_COMMAND": command})) as toolbox:
        calls = [[("diagrams_add_note", {"text": "a", "tag": "b"})], [("diagrams_chart", {})]]
        said = await agent.answer("How many?", scripted(*calls), toolbox)

    assert [one.mime_type for one in said.images] == ["image/png"]


@pytest.mark.skipif(bool(REASON), reason=REASON)
async def test_a_command_is_installed_once_and_runs_in_a_sandbox(tmp_path: Path) -> None:
    shutil.copy(ADVERSARY, tmp_path / "draft.py")
    environ = {
        "DIAGRAM_MCP_COMMAND": shlex.join([sys.executable, "server.py"]),
        "DIAGRAM_MCP_INSTALL": "cp draft.py server.py",
        "DIAGRAM_MCP_FOLDER": str(tmp_path),
    }
    server: Any = agent.diagram_server(environ)
    boxed = server.sandbox.model_copy(update={"read": PYTHON})
    async with agent.drawing(server.model_copy(update={"sandbox": boxed})) as toolbox:
        seen = (await toolbox.acall("diagrams_read", {"path": "/etc/passwd"})).text

    assert (tmp_path / "server.py").exists()
    assert seen.startswith("no: ")


@pytest.mark.parametrize(
    ("environ", "reason"),
    [
        ({}, "no server is configured"),
        ({"DIAGRAM_MCP_COMMAND": "no-such-diagram-server"}, "no-such-diagram-server"),
    ],
)
async def test_without_a_working_server_the_agent_works_and_knows_why(environ: Any, reason: str) -> None:
    async with agent.drawing(agent.diagram_server(environ)) as toolbox:
        told = agent.prompt(toolbox)
        said = await agent.answer("How?", scripted(), toolbox)

    assert reason in told
    assert (said.text, said.images) == ("done", ())


def test_an_address_comes_before_a_command_and_its_token_is_shown_nowhere() -> None:
    environ = {
        "DIAGRAM_MCP_URL": "https://d.example.com/mcp",
        "DIAGRAM_MCP_TOKEN": "s3cret",
        "DIAGRAM_MCP_COMMAND": "x",
    }
    server = agent.diagram_server(environ)

    assert isinstance(server, HttpServer)
    assert "s3cret" not in repr(server)
    assert isinstance(agent.diagram_server({"DIAGRAM_MCP_COMMAND": "npx -y draw"}), StdioServer)
