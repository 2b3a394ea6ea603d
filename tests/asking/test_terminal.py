"""The ready handler that asks on the terminal."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from mcp_adapters import ElicitationAnswer, ElicitationRequest, ask_on_terminal

FIELDS: dict[str, Any] = {
    "name": {"type": "string", "title": "Your name"},
    "age": {"type": "integer", "minimum": 0},
    "weight": {"type": "number"},
    "sure": {"type": "boolean", "default": True},
    "colour": {"type": "string", "enum": ["red", "blue"]},
    "pet": {"type": "string", "oneOf": [{"const": "c", "title": "Cat"}, {"const": "d", "title": "Dog"}]},
    "fish": {"type": "array", "items": {"type": "string", "enum": ["tuna", "cod"]}},
    "birds": {"type": "array", "items": {"anyOf": [{"const": "owl", "title": "Owl"}]}},
}


def form(*names: str, message: str = "Well?", required: tuple[str, ...] = ()) -> ElicitationRequest:
    schema = {
        "type": "object",
        "properties": {name: FIELDS[name] for name in names},
        "required": list(required),
    }
    return ElicitationRequest(server="s", tool="t", message=message, schema=schema)


class Person:
    """Types what is written down, and sees what is shown."""

    def __init__(self, *typed: str) -> None:
        self._typed = iter(typed)
        self.seen: list[str] = []

    def read(self, prompt: str) -> str:
        self.seen.append(prompt)
        try:
            return next(self._typed)
        except StopIteration:
            raise EOFError from None

    def asked(self, request: ElicitationRequest) -> ElicitationAnswer:
        return ask_on_terminal(request, read=self.read, write=self.seen.append)


@pytest.mark.parametrize(
    ("name", "typed", "value"),
    [
        ("name", "  Ada  ", "Ada"),
        ("age", "36", 36),
        ("weight", "1.5", 1.5),
        ("weight", "2", 2),
        ("sure", "n", False),
        ("sure", "YES", True),
        ("sure", "", True),
        ("colour", "red", "red"),
        ("pet", "d", "d"),
        ("fish", "tuna, cod,", ["tuna", "cod"]),
        ("birds", "owl", ["owl"]),
    ],
)
def test_what_is_typed_becomes_the_value_of_its_field(name: str, typed: str, value: Any) -> None:
    answer = Person("y", typed).asked(form(name))

    assert answer == ElicitationAnswer(action="accept", content={name: value})


def test_a_field_that_is_left_empty_is_left_out() -> None:
    assert Person("y", "", "3").asked(form("name", "age")).content == {"age": 3}


@pytest.mark.parametrize(
    ("name", "typed"), [("age", "old"), ("age", "-1"), ("sure", "perhaps"), ("pet", "bird")]
)
def test_a_form_that_was_filled_in_wrongly_is_asked_for_again_with_the_reason(name: str, typed: str) -> None:
    right = {"age": "1", "sure": "y", "pet": "c"}[name]
    person = Person("y", typed, right)

    assert person.asked(form(name)).action == "accept"
    assert any(f"/{name}" in line for line in person.seen)


def test_a_form_that_was_filled_in_wrongly_three_times_counts_as_cancelled() -> None:
    assert Person("y", "x", "x", "x", "1").asked(form("age")) == ElicitationAnswer(action="cancel")


@pytest.mark.parametrize(
    ("typed", "action"), [(["n"], "decline"), (["what?", "no"], "decline"), ([], "cancel"), (["y"], "cancel")]
)
def test_a_person_may_say_no_or_go_away(typed: list[str], action: str) -> None:
    assert Person(*typed).asked(form("name")).action == action


def test_an_interrupt_counts_as_cancelled() -> None:
    def interrupted(_: str) -> str:
        raise KeyboardInterrupt

    assert ask_on_terminal(form("name"), read=interrupted, write=lambda _: None).action == "cancel"


def test_the_person_sees_who_asks_what_and_the_choices() -> None:
    person = Person("y", "c", "", "")
    person.asked(form("pet", "sure", "name", message="Which?"))

    assert person.seen == [
        "The server 's', in the middle of 't', asks: Which?",
        "Do you want to answer? [y/n] ",
        "  pet; c (Cat) / d (Dog): ",
        "  sure; y/n [true]: ",
        "  Your name: ",
    ]


def page(url: str) -> ElicitationRequest:
    return ElicitationRequest(server="s", message="Sign in", mode="url", url=url)


def test_a_page_is_shown_with_its_host_before_the_person_agrees() -> None:
    person = Person("y", "")

    assert person.asked(page("https://bank.example@evil.example/in")) == ElicitationAnswer(action="accept")
    assert person.seen == [
        "The server 's' asks: Sign in",
        "  It wants you to visit a page of evil.example:",
        "  https://bank.example@evil.example/in",
        "Do you want to visit it? [y/n] ",
        "Open it in your browser, and press Enter when you are done. ",
    ]


@pytest.mark.parametrize(("typed", "action"), [(["n"], "decline"), ([], "cancel"), (["y"], "cancel")])
def test_a_page_is_not_visited_without_consent(typed: list[str], action: str) -> None:
    assert Person(*typed).asked(page("https://example.com")).action == action


def test_what_a_server_says_cannot_play_with_the_terminal() -> None:
    person = Person("n")
    person.asked(form("name", message="\x1b[2Jhidden\u202etxet\nnext line\r"))

    assert person.seen[0].endswith("asks: \ufffd[2Jhidden\ufffdtxet\nnext line\ufffd")


SCRIPT = """
from mcp_adapters import Handlers, Toolbox, ask_on_terminal
from mcp.server.mcpserver import Elicit, MCPServer, Resolve
from pydantic import BaseModel
from typing import Annotated
class Sure(BaseModel):
    sure: bool
def ask() -> Elicit[Sure]:
    return Elicit("Erase?", Sure)
server = MCPServer("s", log_level="CRITICAL")
@server.tool(structured_output=False)
def erase(sure: Annotated[Sure, Resolve(ask)]) -> str:
    "Erase."
    return f"sure: {sure.sure}"
with Toolbox({"s": server}, handlers=Handlers(elicitation=ask_on_terminal)) as toolbox:
    print(toolbox.call("s_erase").text)
"""


def test_it_asks_on_the_terminal_of_a_program() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], input="y\ny\n", capture_output=True, text=True, check=True
    )

    assert "The server 's', in the middle of 'erase', asks: Erase?" in done.stdout
    assert done.stdout.endswith("sure: True\n")


@pytest.mark.parametrize("typed", ["", "n\n"])
def test_nobody_at_the_terminal_is_no_consent(typed: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], input=typed, capture_output=True, text=True, check=True
    )

    assert "sure: True" not in done.stdout
