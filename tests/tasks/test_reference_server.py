"""The reference server's own task: a tool of 2025-11-25 that needs one, and asks in the middle of it."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_adapters import ElicitationAnswer, ElicitationRequest, Handlers, TaskState, Toolbox

from ..real_servers import everything
from ..test_supervision import Heard

TOOL = "every_simulate-research-query"


def ended(states: list[TaskState]) -> bool:
    """Whether the news of the end came: a worker tells them, and may do so after the result."""
    return bool(states) and states[-1].status == "completed"


def test_its_research_is_followed_to_the_end() -> None:
    heard = Heard()
    with Toolbox({"every": everything()}, handlers=Handlers(task=heard)) as toolbox:
        result = toolbox.call(TOOL, {"topic": "milk"})
        left = toolbox.pending_tasks
    states: list[TaskState] = heard.wait(ended)

    assert "Research Report: milk" in result.text
    assert {state.status for state in states} == {"working", "completed"}
    assert len({state.task_id for state in states}) == 1
    assert left == ()


@pytest.mark.parametrize("action", ["accept", "decline"])
def test_its_question_is_answered_while_the_task_waits(action: Any) -> None:
    heard = Heard()
    asked: list[ElicitationRequest] = []

    def answer(request: ElicitationRequest) -> ElicitationAnswer:
        asked.append(request)
        [name] = request.fields
        choice = request.fields[name]["oneOf"][0]["const"]
        return ElicitationAnswer(action=action, content={name: choice} if action == "accept" else None)

    handlers = Handlers(elicitation=answer, task=heard)
    with Toolbox({"every": everything()}, handlers=handlers) as toolbox:
        result = toolbox.call(TOOL, {"topic": "python", "ambiguous": True})
    states: list[TaskState] = heard.wait(ended)

    assert len(asked) == 1
    assert "python" in asked[0].message
    assert "Research Report" in result.text
    assert "input_required" in {state.status for state in states}
