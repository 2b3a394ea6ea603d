"""Values that a configuration wants a person to give, asked for when a toolbox is made."""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from mcp_adapters import ConfigError, Toolbox, _toolbox

from .conftest import Wire

SCRIPT = {"id": "script", "type": "promptString", "description": "Which script?", "password": True}
asked: list[tuple[str, Mapping[str, object]]] = []
answers: dict[str, str] = {}


def answer(name: str, definition: Mapping[str, object]) -> str:
    """Be the person; at the top of the module, since functions travel by their names."""
    asked.append((name, definition))
    return answers[name]


@pytest.fixture
def config(wire: Wire) -> Iterator[dict[str, Any]]:
    """Two servers in VS Code's form that cannot start unless the same question is answered."""
    command, program, script = wire.server().argv()
    asked.clear()
    answers.update(script=script)
    entry = {"command": command, "args": [program, "${input:script}"]}
    yield {"inputs": [SCRIPT], "servers": {"one": entry, "two": entry}}
    for toolbox in _toolbox._shared.values():
        toolbox.close()
    _toolbox._shared.clear()


def test_a_person_is_asked_once_with_the_definition_and_before_anything_starts(
    config: dict[str, Any], wire: Wire
) -> None:
    toolbox = Toolbox(config, inputs=answer)
    assert asked == [("script", SCRIPT)]
    for _ in range(2):
        with toolbox:
            assert toolbox.call("two_echo", {"text": "x"}).text == '{"text": "x"}'

    assert asked == [("script", SCRIPT)]
    assert wire.starts() == 4


def test_an_answer_is_kept_secret(config: dict[str, Any]) -> None:
    with Toolbox(config, inputs=answer) as toolbox:
        assert answers["script"] not in repr((toolbox, toolbox.status, toolbox.tools))


def test_a_file_asks_like_a_mapping(config: dict[str, Any], tmp_path: Any) -> None:
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps(config))
    with Toolbox(path, inputs=answer) as toolbox:
        assert sorted(toolbox.status) == ["one", "two"]

    assert asked == [("script", SCRIPT)]


def test_without_anybody_to_ask_the_error_says_how_to_answer(config: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="'inputs'") as caught:
        Toolbox(config)

    assert [(problem.server, problem.field) for problem in caught.value.problems] == [
        ("one", "args[1]"),
        ("two", "args[1]"),
    ]


def test_what_asking_raises_passes_through(config: dict[str, Any]) -> None:
    answers.clear()
    with pytest.raises(KeyError):
        Toolbox(config, inputs=answer)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:.*use of fork.*:DeprecationWarning")
def test_a_forked_child_has_the_answer_already(config: dict[str, Any]) -> None:
    with Toolbox(config, inputs=answer) as toolbox:
        echo = toolbox["one_echo"]
        reader, writer = os.pipe()
        if os.fork() == 0:
            try:
                answers.clear()
                os.write(writer, echo.call({"text": "child"}).text.encode())
                toolbox.close()
            finally:
                os._exit(0)
        os.wait()
        told = os.read(reader, 100)
        os.close(reader)
        os.close(writer)

    assert told == b'{"text": "child"}'


def test_an_answer_does_not_travel_and_is_asked_for_where_the_tool_arrives(config: dict[str, Any]) -> None:
    with Toolbox(config, inputs=answer) as toolbox:
        packed = pickle.dumps(toolbox["one_echo"])
    asked.clear()

    assert pickle.loads(packed).call({"text": "there"}).text == '{"text": "there"}'
    assert asked == [("script", SCRIPT)]
    assert answers["script"].encode() not in packed
