"""Every example of the README runs as it stands there."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from mcp.server.mcpserver import MCPServer

from .conftest import Wire
from .test_langchain import ScriptedModel, calling
from .test_llamaindex import scripted

README = (Path(__file__).parents[1] / "README.md").read_text()
SECTIONS = dict(re.findall(r"^## (.+?)$(.*?)(?=^## |\Z)", README, flags=re.MULTILINE | re.DOTALL))
SEARCH = ("notes_search_notes", {"query": "milk"})


def blocks(section: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", SECTIONS[section], flags=re.MULTILINE | re.DOTALL)


def run(section: str, **given: Any) -> dict[str, Any]:
    """Run a section's Python with what its reader has by then."""
    [code] = blocks(section, "python")
    namespace: dict[str, Any] = {"__name__": "readme", **given}
    exec(compile(code, f"README.md, {section}", "exec"), namespace)
    return namespace


@pytest.fixture(autouse=True)
def config_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The README's own mcp.json, in the current folder, with the tests' Python."""
    [text] = blocks("LangChain", "json")
    config = json.loads(text)
    assert config["mcpServers"]["notes"]["command"] == "python"
    config["mcpServers"]["notes"]["command"] = sys.executable
    (tmp_path / "mcp.json").write_text(json.dumps(config))
    monkeypatch.chdir(tmp_path)


def test_every_python_example_is_run_by_a_test_below() -> None:
    shown = {section for section in SECTIONS if blocks(section, "python")}

    assert shown == {
        "LangChain",
        "LlamaIndex",
        "Plain Python",
        "Notebook",
        "Servers",
        "Authentication",
        "Control",
    }


def test_the_three_lines_at_the_top() -> None:
    from langchain.agents import create_agent

    from mcp_adapters import Toolbox

    [code] = re.findall(
        r"^```python\n(.*?)^```$", README.partition("\n## ")[0], flags=re.MULTILINE | re.DOTALL
    )
    model = ScriptedModel(script=[calling(SEARCH), AIMessage("They say nothing.")])
    namespace: dict[str, Any] = {"Toolbox": Toolbox, "create_agent": create_agent, "model": model}
    exec(compile(code, "README.md", "exec"), namespace)

    assert code.count("\n") == 3
    assert [message.type for message in namespace["state"]["messages"]] == ["human", "ai", "tool", "ai"]


def test_the_langchain_example(capsys: pytest.CaptureFixture[str]) -> None:
    model = ScriptedModel(script=[calling(SEARCH), AIMessage("They say nothing.")])
    namespace = run("LangChain", model=model)

    assert capsys.readouterr().out == "They say nothing.\n"
    assert namespace["state"]["messages"][2].status == "success"


def test_the_llamaindex_example(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from llama_index.core.agent import workflow

    class NotStreaming(workflow.FunctionAgent):
        """The scripted model answers whole messages only."""

        streaming: bool = False

    monkeypatch.setattr(workflow, "FunctionAgent", NotStreaming)
    run("LlamaIndex", llm=scripted([SEARCH]))

    assert capsys.readouterr().out == "done\n"


def test_the_plain_python_example(capsys: pytest.CaptureFixture[str]) -> None:
    namespace = run("Plain Python")

    assert not namespace["result"].is_error
    assert "Buy milk" in capsys.readouterr().out


async def test_the_notebook_example_works_while_a_loop_runs() -> None:
    namespace = run("Notebook")

    assert repr(namespace["toolbox"]) == "<Toolbox of notes: closed>"


def test_the_servers_example(wire: Wire) -> None:
    """Nobody listens at the two addresses of the example, and it says to leave such servers out."""
    server = MCPServer("here")
    server.add_tool(lambda: "hello", name="greet", description="Greets.")
    with run("Servers", in_process_server=server, token="t")["toolbox"] as toolbox:
        states = {key: status.state for key, status in toolbox.status.items()}
        assert toolbox.call("here_greet").text == "hello"

    assert states == {"notes": "ready", "search": "failed", "short": "failed", "here": "ready"}


def test_the_authentication_example() -> None:
    """Nobody is at its addresses; that each form arrives at a server is tested elsewhere."""
    namespace = run("Authentication", token="t0ken")

    assert {key: type(server.auth).__name__ for key, server in namespace["servers"].items()} == {
        "token": "BearerAuth",
        "key": "ApiKeyAuth",
        "person": "OAuth",
        "robot": "ClientCredentials",
    }
    assert repr(namespace["toolbox"]) == "<Toolbox of token, key, person, robot: closed>"


def test_the_control_example(capsys: pytest.CaptureFixture[str]) -> None:
    run("Control")

    assert "notes_list_notes {} ok\n" in capsys.readouterr().out
