"""The release-notes agent, on a recorded session of a server like GitHub's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage

from examples.release_notes import agent
from mcp_adapters import ToolboxLoadError
from mcp_adapters.testing import Recording, ScriptedServer

from ..test_langchain import ScriptedModel, calling

SESSION = Path(agent.__file__).with_name("session.json")
PLACE = {"owner": "octocat", "repo": "hello-world"}
NOTES = "New: charts in colour (#41). Mended: the last line (#42)."


def scripted_model() -> ScriptedModel:
    turns: list[tuple[str, dict[str, Any]]] = [
        ("github_get_latest_release", PLACE),
        ("github_list_pull_requests", {**PLACE, "state": "closed"}),
        ("github_pull_request_read", {**PLACE, "pullNumber": 41, "method": "get"}),
    ]
    return ScriptedModel(script=[*(calling(turn) for turn in turns), AIMessage(NOTES)])


async def test_the_agent_reads_pull_requests_and_writes_notes() -> None:
    model = scripted_model()
    with Recording(SESSION) as session:
        async with agent.reading(session) as toolbox:
            offered = {tool.remote_name for tool in toolbox}
            hidden = {skipped.name for skipped in toolbox.skipped}
            notes = await agent.release_notes("octocat/hello-world", model, toolbox)

    assert notes == NOTES
    assert offered == set(agent.READING)
    assert hidden == {"merge_pull_request"}
    read = "\n".join(str(message.content) for message in model._read)
    assert "Draw charts in colour" in read
    assert "Now they do" in read


@pytest.mark.parametrize("missing", agent.READING)
async def test_a_server_without_one_of_the_tools_fails_at_the_start(missing: str) -> None:
    server = ScriptedServer()
    for name in agent.READING:
        server.tool(name if name != missing else f"{name}s")
    with pytest.raises(ToolboxLoadError, match=missing):
        await agent.reading(server).aopen()


@pytest.mark.parametrize("environ", [{}, {"GITHUB_TOKEN": ""}])
async def test_without_a_token_it_is_off_with_a_clear_word(environ: dict[str, str], capsys: Any) -> None:
    assert await agent.main(["octocat/hello-world"], environ) == 2

    assert "set GITHUB_TOKEN" in capsys.readouterr().err


def test_the_token_goes_to_the_server_and_is_shown_nowhere() -> None:
    server = agent.github({"GITHUB_TOKEN": "ghp_s3cret", "GITHUB_MCP_URL": "https://github.example.com/mcp"})

    assert server is not None
    assert server.url == "https://github.example.com/mcp"
    assert "ghp_s3cret" not in repr(server) + repr(agent.reading(server))
    assert "ghp_s3cret" not in json.dumps(json.loads(SESSION.read_text()))
