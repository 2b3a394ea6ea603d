"""What filters keep, what they say about the rest, and what is missing."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_adapters.errors import ConfigError
from mcp_adapters.filtering import (
    MissingTool,
    Selection,
    ToolFilter,
    closest_names,
    missing,
    missing_error,
    parse_filter,
    read_annotations,
    select,
)
from mcp_adapters.spec import ListedTool, SkippedTool, ToolAnnotations

UNHURRIED = settings(deadline=None)


def listed(server: str, *names: str, **annotations: object) -> list[ListedTool]:
    definition = {"annotations": annotations} if annotations else {}
    return [ListedTool(server=server, name=name, definition={"name": name, **definition}) for name in names]


def kept_names(applied: ToolFilter, *names: str) -> list[str]:
    return [name for name in names if applied.refusal(name, ToolAnnotations()) is None]


@pytest.mark.parametrize(
    ("pattern", "matching", "other"),
    [
        ("read", ["read"], ["Read", "read ", "read\n", "reads", ""]),
        ("read_*", ["read_", "read_file", "read_a\nb"], ["read", "Read_file"]),
        ("*", ["", "x", "\n"], []),
        ("get_?", ["get_a", "get_天"], ["get_", "get_ab"]),
        ("[rw]_x", ["r_x", "w_x"], ["x_x", "[rw]_x"]),
        ("[!r]_x", ["w_x"], ["r_x"]),
        ("a[*]b", ["a*b"], ["axb", "a[*]b"]),
        ("a[[]b", ["a[b"], ["ab", "a[[]b"]),
        ("a[?]b", ["a?b"], ["axb"]),
        ("a.b", ["a.b"], ["axb"]),
        ("GET:/items/{id}", ["GET:/items/{id}"], ["GET:/items/1"]),
    ],
)
def test_a_pattern_matches_whole_names_with_case_and_a_plain_one_exactly(pattern, matching, other):
    assert kept_names(ToolFilter.allow(pattern), *matching, *other) == matching
    assert kept_names(ToolFilter.deny(pattern), *matching, *other) == other


def test_an_empty_filter_keeps_everything_and_allowing_nothing_keeps_nothing():
    assert kept_names(ToolFilter(), "a", "") == ["a", ""]
    assert kept_names(ToolFilter.allow(), "a", "") == []
    assert kept_names(ToolFilter.deny(), "a", "") == ["a", ""]


def test_a_predicate_gets_the_servers_own_name_and_the_annotations():
    seen = []

    def is_safe(name: str, annotations: ToolAnnotations) -> bool:
        seen.append((name, annotations))
        return annotations.read_only is True

    tools = [*listed("s", "a.b", readOnlyHint=True), *listed("s", "c")]
    selection = select(tools, ToolFilter.where(is_safe))
    assert seen == [("a.b", ToolAnnotations(read_only=True)), ("c", ToolAnnotations())]
    assert selection == Selection(
        kept=(tools[0],),
        dropped=(
            SkippedTool(
                server="s", name="c", reason="left out by the filter: the predicate 'is_safe' does not hold"
            ),
        ),
    )


def test_a_tool_passes_a_combination_only_when_it_passes_every_part():
    combined = ToolFilter.allow("read_*", "write_*") & ToolFilter.deny("*_secret") & ToolFilter.allow("*e*")
    assert kept_names(combined, "read_a", "read_secret", "write_x", "wri_e", "list") == ["read_a", "write_x"]


@pytest.mark.parametrize(
    ("config", "kept"),
    [
        (["read_*", "list"], ["read_a", "read_b", "list"]),
        (("list",), ["list"]),
        ([], []),
        ({}, ["read_a", "read_b", "list", "drop"]),
        ({"drop": False, "list": True}, ["read_a", "read_b", "list"]),
        ({"*": False, "read_*": True, "read_b": False}, ["read_a"]),
        ({"allow": ["read_*"], "deny": ["read_b"]}, ["read_a"]),
        ({"deny": ["read_*"]}, ["list", "drop"]),
        ({"allow": ["list"]}, ["list"]),
        ({"allow": False}, ["read_a", "read_b", "list", "drop"]),
        ({"all": [["read_*", "list"], {"deny": ["read_b"]}]}, ["read_a", "list"]),
    ],
)
def test_a_filter_is_read_from_data_and_written_back_with_the_same_meaning(config, kept):
    names = ["read_a", "read_b", "list", "drop"]
    read = parse_filter(config)
    assert kept_names(read, *names) == kept
    written = json.loads(json.dumps(read.to_config()))
    assert parse_filter(written) == read


@pytest.mark.parametrize(
    "config",
    [
        None,
        "read_*",
        3,
        True,
        [1],
        [["a"]],
        {"a": 1},
        {"a": True, "b": "x"},
        {"allow": "read"},
        {"allow": ["a"], "x": False},
        {"allow": ["a"], "permit": ["b"]},
        {"all": "a"},
        {1: False},
    ],
)
def test_anything_else_is_no_filter(config):
    with pytest.raises(ConfigError):
        parse_filter(config)


def test_patterns_given_as_one_list_are_refused_at_once():
    with pytest.raises(ConfigError):
        ToolFilter.allow(["a", "b"])  # type: ignore[arg-type]


def test_a_filter_with_a_predicate_cannot_be_written_as_data():
    with pytest.raises(ConfigError):
        (ToolFilter.allow("a") & ToolFilter.where(lambda name, _: bool(name))).to_config()


PATTERNS = st.text(alphabet="ab*?[]!_", max_size=5)


@UNHURRIED
@given(
    st.lists(st.tuples(st.booleans(), st.lists(PATTERNS, max_size=3)), max_size=3), st.lists(st.text("ab_["))
)
def test_every_combination_of_patterns_survives_json(parts, names):
    combined = ToolFilter()
    for allowing, patterns in parts:
        combined &= ToolFilter.allow(*patterns) if allowing else ToolFilter.deny(*patterns)
    again = parse_filter(json.loads(json.dumps(combined.to_config())))
    assert kept_names(again, *names) == kept_names(combined, *names)


@UNHURRIED
@given(st.lists(st.tuples(st.sampled_from("st"), st.text("abc", max_size=3)), max_size=8), PATTERNS)
def test_every_listed_tool_is_either_kept_or_dropped_in_listing_order(identities, pattern):
    tools = [ListedTool(server=server, name=name, definition={}) for server, name in identities]
    chosen = select(tools, ToolFilter.deny(pattern))
    dropped = [tool for tool in tools if tool not in chosen.kept]
    assert [(tool.server, tool.name) for tool in chosen.dropped] == [(t.server, t.name) for t in dropped]
    assert list(chosen.kept) == [tool for tool in tools if tool not in dropped]


def test_filters_by_server_leave_other_servers_alone():
    tools = [*listed("fs", "read", "write"), *listed("git", "read", "write")]
    selection = select(tools, {"fs": ToolFilter.allow("read")})
    assert [(tool.server, tool.name) for tool in selection.kept] == [
        ("fs", "read"),
        ("git", "read"),
        ("git", "write"),
    ]
    assert selection.dropped == (
        SkippedTool(
            server="fs",
            name="write",
            reason="left out by the filter: no allowed name or pattern matches",
        ),
    )
    assert selection.warnings == ()


@pytest.mark.parametrize(
    ("filters", "warnings"),
    [
        (None, ()),
        (ToolFilter.allow("read_file", "query", "zz*"), ()),
        (
            ToolFilter.allow("read-files"),
            ("the filter names 'read-files', which no server offers; did you mean 'read_file'?",),
        ),
        (ToolFilter.deny("xyz"), ("the filter names 'xyz', which no server offers",)),
        (
            {"fs": ToolFilter.allow("query")},
            ("the filter names 'query', which server 'fs' does not offer",),
        ),
        (
            {"sf": ToolFilter.allow("x"), "databse": ToolFilter()},
            (
                "the filter for 'sf' has no server of that key",
                "the filter for 'databse' has no server of that key; did you mean 'database'?",
            ),
        ),
        ({"quiet": ToolFilter()}, ()),
    ],
)
def test_a_name_or_server_that_a_filter_mentions_in_vain_is_a_warning_with_the_closest(filters, warnings):
    tools = [*listed("fs", "read_file"), *listed("database", "query")]
    assert select(tools, filters, servers=["fs", "database", "quiet"]).warnings == warnings


@pytest.mark.parametrize(
    ("definition", "expected"),
    [
        ({}, ToolAnnotations()),
        ({"annotations": None}, ToolAnnotations()),
        ({"annotations": ["readOnlyHint"]}, ToolAnnotations()),
        ({"annotations": {"readOnlyHint": "true", "title": 3, "destructiveHint": 1}}, ToolAnnotations()),
        (
            {
                "annotations": {
                    "title": "T",
                    "readOnlyHint": False,
                    "destructiveHint": True,
                    "idempotentHint": True,
                    "openWorldHint": False,
                    "other": 1,
                }
            },
            ToolAnnotations(title="T", read_only=False, destructive=True, idempotent=True, open_world=False),
        ),
    ],
)
def test_annotations_of_a_wrong_type_count_as_not_said(definition, expected):
    assert read_annotations(definition) == expected


def test_annotations_may_come_from_elsewhere_than_the_listing():
    selection = select(
        listed("s", "a", readOnlyHint=True),
        ToolFilter.where(lambda _, annotations: annotations.read_only is True),
        annotations_of=lambda _: ToolAnnotations(),
    )
    assert selection.kept == ()


OFFERED = [*listed("fs", "read_file", "write_file"), *listed("web", "GET:/items", "search")]


@pytest.mark.parametrize(
    ("require", "found"),
    [
        ([], ()),
        (["search", "fs:read_file", "GET:/items", "web:GET:/items"], ()),
        (
            ["web:read_file"],
            (MissingTool(entry="web:read_file", server="web", closest=("fs:read_file", "fs:write_file")),),
        ),
        (["Read-File"], (MissingTool(entry="Read-File", server=None, closest=("read_file", "write_file")),)),
        (["db:zzz", "db:zzz"], (MissingTool(entry="db:zzz", server="db"),)),
        (["read_*"], (MissingTool(entry="read_*", server=None, closest=("read_file",)),)),
    ],
)
def test_a_requirement_is_met_by_a_tool_of_that_name_or_that_server_and_name(require, found):
    assert missing(require, OFFERED) == found


def test_the_error_lists_everything_that_is_missing_by_server_with_what_is_offered():
    error = missing_error(missing(["fs:reed_file", "db:query", "serch"], OFFERED), OFFERED)
    assert str(error).splitlines() == [
        "required tools are missing:",
        "  server 'fs':",
        "    'fs:reed_file' is not offered; closest: 'fs:read_file', 'fs:write_file'",
        "  server 'db', which offers no tools:",
        "    'db:query' is not offered",
        "  on any server:",
        "    'serch' is not offered; closest: 'search'",
        "  'fs' offers 'read_file', 'write_file'",
        "  'web' offers 'GET:/items', 'search'",
        "correct the names in require=, or check that the servers are the right ones",
    ]
    assert [(tool.server, tool.name) for tool in error.tools] == [
        ("fs", "fs:reed_file"),
        ("db", "db:query"),
        ("", "serch"),
    ]


def test_the_error_stays_short_when_thousands_of_tools_are_offered():
    offered = [tool for n in range(50) for tool in listed(f"s{n}", *(f"tool_{i}" for i in range(100)))]
    text = str(missing_error(missing(["other"], offered), offered))
    assert text.count("and 80 more") == 10
    assert len(text) < 4_000


@pytest.mark.parametrize(
    ("word", "closest"),
    [
        ("search", ("web_search", "search_k7wofek5")),
        ("WEB-SERCH", ("web_search",)),
        ("zzz", ()),
        ("", ()),
    ],
)
def test_the_closest_names_are_those_that_hold_the_word_or_look_like_it(word, closest):
    names = ["search_k7wofek5", "web_search", "list"]
    assert closest_names(word, names) == closest_names(word, reversed(names)) == closest


def test_a_filter_in_a_configuration_that_is_made_in_python_is_taken_as_it_is() -> None:
    given = ToolFilter.allow("read_*")

    assert parse_filter(given) is given
