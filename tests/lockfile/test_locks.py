"""The text of a lock file: what is in it, and which texts are refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_adapters import ConfigError
from mcp_adapters.lockfile import Lock, lock_tools, parse_lock
from mcp_adapters.spec import ListedTool

TEXTS = st.text(max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda values: st.lists(values, max_size=3) | st.dictionaries(TEXTS, values, max_size=3),
    max_leaves=6,
)


def listed(server: str, name: str, **definition: Any) -> ListedTool:
    return ListedTool(server=server, name=name, definition={"name": name, **definition})


@given(
    st.dictionaries(
        st.tuples(TEXTS, TEXTS), st.tuples(TEXTS, st.dictionaries(TEXTS, VALUES, max_size=3)), max_size=4
    )
)
def test_what_was_locked_is_read_again(tools: dict[tuple[str, str], tuple[str, dict[str, Any]]]) -> None:
    lock = lock_tools(
        (listed(*identity, x=definition), exposed) for identity, (exposed, definition) in tools.items()
    )
    assert parse_lock(lock.text()) == lock


def test_the_text_is_sorted_and_has_a_block_for_each_tool_whatever_the_order() -> None:
    tools = [
        (listed("b", "z", description="Zs", inputSchema={"type": "object"}), "b_z"),
        (listed("b", "a", description="Äs", _meta={"volatile": 1}, icons=[{"src": "x"}]), "b_a"),
        (listed("a", "a"), "a_a"),
    ]
    text = lock_tools(tools).text()
    assert text == lock_tools(reversed(tools)).text()
    assert text.endswith("}\n")
    content = json.loads(text)
    assert [(server, list(entries)) for server, entries in content["servers"].items()] == [
        ("a", ["a"]),
        ("b", ["a", "z"]),
    ]
    assert content["servers"]["b"]["a"] == {
        "definition": {"name": "a", "description": "Äs"},
        "exposed_name": "b_a",
        "fingerprint": lock_tools(tools).tools["b", "a"].fingerprint,
    }
    assert "Äs" in text


def test_equal_definitions_have_equal_fingerprints_and_others_have_others() -> None:
    def fingerprint(**definition: Any) -> str:
        return lock_tools([(listed("s", "t", **definition), "s_t")]).tools["s", "t"].fingerprint

    assert fingerprint(description="x", title="y") == fingerprint(title="y", description="x")
    assert fingerprint(_meta={"a": 1}) == fingerprint()
    different = [
        fingerprint(),
        fingerprint(description="x"),
        fingerprint(description="x "),
        fingerprint(annotations={"readOnlyHint": True}),
        fingerprint(annotations={"readOnlyHint": False}),
        fingerprint(inputSchema={"type": "object"}),
        fingerprint(outputSchema={"type": "object"}),
    ]
    assert len(set(different)) == len(different)
    assert all(value.startswith("sha256:") and len(value) == 71 for value in different)


def changed(edit: Any) -> str:
    content = json.loads(lock_tools([(listed("s", "t", description="x"), "s_t")]).text())
    edit(content)
    return json.dumps(content)


def entry(content: Any) -> Any:
    return content["servers"]["s"]["t"]


REFUSED = {
    "no JSON": ("<<<<<<< HEAD\n{", r"^the file is not JSON"),
    "a list": ("[]", r"^the file is no lock file of format 1"),
    "another file": ('{"mcpServers": {}}', r"^the file is no lock file of format 1"),
    "a later format": (changed(lambda content: content.update(lockfile=2)), "no lock file of format 1"),
    "no tools": (changed(lambda content: content["servers"].update(s=[])), r"server 's' is not an object"),
    "no tool": (changed(lambda content: content["servers"]["s"].update(t=1)), r"tool s:t is not an object"),
    "no name": (changed(lambda content: entry(content).pop("exposed_name")), r"tool s:t has no exposed_name"),
    "no definition": (
        changed(lambda content: entry(content).pop("definition")),
        r"tool s:t is not an object",
    ),
    "another text": (
        changed(lambda content: entry(content)["definition"].update(description="y")),
        r"tool s:t does not fit its fingerprint: it was changed by hand or merged wrongly",
    ),
    "no fingerprint": (
        changed(lambda content: entry(content).pop("fingerprint")),
        "does not fit its fingerprint",
    ),
}


@pytest.mark.parametrize(("text", "message"), REFUSED.values(), ids=REFUSED)
def test_another_text_is_refused_with_the_place_and_the_way_out(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        parse_lock(text, source="the file")
    assert "mcp-adapters lock" in str(caught.value)


def test_an_empty_lock_knows_nothing() -> None:
    assert parse_lock(Lock().text()) == Lock()
    assert Lock().names == {}
