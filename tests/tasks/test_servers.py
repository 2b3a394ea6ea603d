"""Tasks of a real server with the extension: in the same process, as a process, over HTTP, and killed in between."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage

from mcp_adapters import (
    ElicitationAnswer,
    Handlers,
    InputRequiredError,
    Pause,
    PendingCall,
    StdioServer,
    TaskState,
    Toolbox,
)

from ..test_langchain import ScriptedModel, calling, said_by_tools
from . import slow_server

SLOW = Path(__file__).with_name("slow_server.py")


def over_stdio(folder: Path, protocol: Any = "auto") -> dict[str, Any]:
    args = [str(SLOW), str(folder)]
    return {"s": StdioServer(command=sys.executable, args=args, protocol=protocol)}


def ledger(folder: Path) -> list[str]:
    return (folder / "ledger").read_text().splitlines()


def test_a_server_that_is_killed_in_the_middle_of_a_task_goes_on_and_has_its_effect_once(
    tmp_path: Path,
) -> None:
    states: list[TaskState] = []
    with Toolbox(over_stdio(tmp_path), handlers=Handlers(task=states.append)) as toolbox:
        result = toolbox.call("s_deadly")

    assert result.text == "deadly is done"
    assert ledger(tmp_path) == ["begins deadly", "effect of deadly"]
    assert [one.status for one in states][-1] == "completed"


def test_a_task_that_waits_for_a_person_is_finished_by_another_toolbox_with_another_process(
    tmp_path: Path,
) -> None:
    handlers = Handlers(elicitation=Pause())
    with Toolbox(over_stdio(tmp_path), handlers=handlers) as toolbox:
        with pytest.raises(InputRequiredError) as caught:
            toolbox.call("s_risky")
        [waiting] = toolbox.pending_tasks
    pending = PendingCall.from_json(json.loads(json.dumps(caught.value.pending.to_json())))
    yes = ElicitationAnswer(action="accept", content={"sure": True})
    with Toolbox(over_stdio(tmp_path), handlers=handlers) as toolbox:
        result = toolbox.call("s_risky", resume=pending.answered({"sure": yes}))

    assert (waiting.tool, waiting.status) == ("risky", "input_required")
    assert json.loads(result.text) == {"sure": {"action": "accept", "content": {"sure": True}}}
    assert ledger(tmp_path) == ["begins risky", "effect of risky"]


def test_a_server_of_this_process_makes_tasks_too(tmp_path: Path) -> None:
    with Toolbox({"s": slow_server.make(tmp_path)}) as toolbox:
        result = toolbox.call("s_steady")

    assert result.text == "steady is done"
    assert ledger(tmp_path) == ["begins steady", "effect of steady"]


def test_who_speaks_an_older_protocol_gets_the_result_at_once(tmp_path: Path) -> None:
    with Toolbox(over_stdio(tmp_path, "legacy")) as toolbox:
        result = toolbox.call("s_steady")

    assert result.text == "done inline"


def test_tools_of_a_framework_need_to_know_nothing_of_tasks(tmp_path: Path) -> None:
    model = ScriptedModel(script=[calling(("s_steady", {})), AIMessage("done")])
    with Toolbox({"s": slow_server.make(tmp_path)}) as toolbox:
        agent = create_agent(model, toolbox.to("langchain"))
        state = agent.invoke({"messages": [("user", "go")]})

    assert [message.content for message in said_by_tools(state["messages"])] == ["steady is done"]


def test_an_endless_task_is_cancelled_with_the_server_s_word(tmp_path: Path) -> None:
    with Toolbox({"s": slow_server.make(tmp_path)}, total_timeout=2.0) as toolbox:
        with pytest.raises(Exception, match="did not come to an end within"):
            toolbox.call("s_endless")
        assert toolbox.pending_tasks == ()

    assert ledger(tmp_path) == ["begins endless"]
