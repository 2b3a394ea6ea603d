"""Names, descriptions, counts and histories as they failed in the field, and the listings of real servers.

The cases and listings lie beside the repository, where there are any.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage

from mcp_adapters.errors import ToolboxLoadError, ToolNotFoundError
from mcp_adapters.naming import NamePolicy, assign_names, rename_map
from mcp_adapters.providers import PROFILES, check_count, profile, shorten_description, violations
from mcp_adapters_langchain.history import rename_tools

SHARED = Path(__file__).parents[1] / ".." / "shared"
CASES = SHARED / "cases" / "provider_cases.json"
CORPUS = SHARED / "corpus"

needs_corpus = pytest.mark.skipif(not CORPUS.is_dir(), reason="the listings of real servers are not there")
RULES = dict.fromkeys(NamePolicy.for_provider(entry.name) for entry in PROFILES)
POLICIES = [
    replace(policy, prefix=prefix, hashed=hashed)
    for policy in RULES
    for prefix in ("always", "never", "on_clash")
    for hashed in ("when_needed", "every_change")
]


def cases(kind: str) -> list[Any]:
    if not CASES.is_file():
        return [pytest.param({}, marks=pytest.mark.skip(reason="the provider cases are not there"))]
    found = [case for case in json.loads(CASES.read_text("utf-8")) if case["kind"] == kind]
    return [pytest.param(case, id=case["id"]) for case in found]


def provider_of(case: dict[str, Any]) -> str:
    words = {"openai-compatible(copilot)": "openai", "langchain": "portable"}
    first = case["provider"].split("|")[0]
    if first == "anthropic" and case["expected"].get("max_len") == 64:
        return "anthropic-64"
    return words.get(first, first)


def tools_of(case: dict[str, Any]) -> list[tuple[str, str]]:
    given = case["input"]
    if "servers" in given:
        return [(server, tool) for server, names in given["servers"].items() for tool in names]
    names = list(dict.fromkeys([*given["names"], *given.get("then", [])]))
    return [("server", with_alias(name, names[0])) for name in names]


def with_alias(name: str, first: str) -> str:
    """Fill in the place where a case asks for another tool's generated name."""
    policy = NamePolicy(prefix="never", hashed="every_change")
    return assign_names([("server", first)], policy).exposed["server", first] if name[:1] == "<" else name


@pytest.mark.parametrize("case", cases("tool_name"))
@pytest.mark.parametrize("portable", [True, False], ids=["portable", "own-rule"])
@pytest.mark.parametrize("prefix", ["never", "always", "on_clash"])
@pytest.mark.parametrize("hashed", ["when_needed", "every_change"])
def test_every_name_case_holds(case, portable, prefix, hashed):
    provider = profile(provider_of(case))
    policy = NamePolicy.for_provider("portable" if portable else provider.name, prefix=prefix, hashed=hashed)
    tools, expected = tools_of(case), case["expected"]
    names = assign_names(tools, policy)
    shown = list(names.exposed.values())

    assert list(names.exposed) == tools
    assert len(set(shown)) == len(tools)
    assert [names.find(name) for name in shown] == tools
    assert [problem for name in shown for problem in violations(provider, name=name)] == []
    assert all(re.fullmatch(expected.get("name_pattern", ".*"), name) for name in shown)
    assert all(len(name) <= expected.get("max_len", 128) for name in shown)
    for order in permutations(tools[:4]):
        assert assign_names([*order, *tools[4:]], policy).exposed == names.exposed
    if prefix != "always":
        bare = {tool: name for (_, tool), name in names.exposed.items()}
        kept = expected.get("must_keep", {})
        assert {name: bare[name] for name in kept} == kept
    if expected["outcome"] == "unchanged" and prefix == "never" and not portable:
        assert names.exposed == {tool: tool[1] for tool in tools}


def cases_with_a_later_tool() -> list[Any]:
    """The cases that say what happens `then`; the skip mark where there are no cases at all."""
    found = cases("tool_name")
    return [entry for entry in found if entry.marks or "then" in entry.values[0]["input"]]


@pytest.mark.parametrize("case", cases_with_a_later_tool())
def test_a_tool_that_comes_later_leaves_earlier_names_alone_or_to_nobody(case):
    given = case["input"]
    first = [("server", name) for name in given["names"]]
    later = [("server", name) for name in given["then"]]
    stable = NamePolicy(prefix="never", hashed="every_change")
    for policy in (NamePolicy(prefix="never"), stable):
        before = assign_names(first, policy)
        anew = assign_names(later, policy)
        for tool in first:
            assert anew.sources.get(before.exposed[tool], tool) == tool
            assert assign_names(later, policy, kept=before.given).exposed[tool] == before.exposed[tool]
    anew = assign_names(later, stable).exposed
    assert {tool: anew[tool] for tool in first} == assign_names(first, stable).exposed


def dispatches() -> list[Any]:
    found = []
    for entry in [*cases("tool_name"), *cases("history")]:
        (case,) = entry.values
        for called, tool in case.get("expected", {}).get("dispatch", {}).items():
            found.append(pytest.param(case["input"]["names"], called, tool, id=f"{case['id']}-{called}"))
    return found or [pytest.param([], "", None, marks=pytest.mark.skip(reason="the cases are not there"))]


@pytest.mark.parametrize(("tools", "called", "found"), dispatches())
def test_what_a_model_calls_leads_to_the_tool_that_the_case_names(tools, called, found):
    names = assign_names([("server", tool) for tool in tools], NamePolicy(prefix="never"))
    if found is not None:
        assert names.find(called) == ("server", found)
        return
    with pytest.raises(ToolNotFoundError) as caught:
        names.find(called)
    assert sorted(caught.value.closest) == sorted(tools)


@pytest.mark.parametrize("case", cases("description"))
def test_every_description_case_holds(case):
    provider, given = profile(provider_of(case)), case["input"]
    if "description_len" in given:
        text = ("word " * given["description_len"])[: given["description_len"]]
        assert violations(provider, description=text) != ()
        cut = shorten_description(text, provider.description_max)
        assert violations(provider, description=cut) == ()
        assert len(cut) <= case["expected"]["max_len"]
        assert cut.endswith("word…")
    else:
        assert violations(provider, description=given.get("description", "")) != ()
        assert violations(provider, description=given["name"]) == ()


@pytest.mark.parametrize("case", cases("tool_count"))
def test_every_count_case_is_an_error_before_the_request(case):
    provider, limit = profile(provider_of(case)), case["expected"]["max_tools"]
    assert provider.count_max == limit
    check_count({"a": limit - 1, "b": 1}, provider)
    with pytest.raises(ToolboxLoadError) as caught:
        check_count({"a": case["input"]["tool_count"] - 1, "b": 1}, provider)
    assert str(limit) in str(caught.value)
    assert "'a' has" in str(caught.value)


@pytest.mark.parametrize("case", cases("history"))
def test_every_history_case_gives_names_that_the_provider_accepts(case):
    used = case["input"].get("assistant_tool_calls", case["input"].get("names", []))
    tools = [("server", name) for name in used]
    rule = profile("portable" if case["provider"] == "any" else provider_of(case))
    old = assign_names(tools, NamePolicy.for_provider("gemini", prefix="never"))
    new = assign_names(tools, NamePolicy.for_provider(rule.name, prefix="never"))
    stored = [
        AIMessage("", tool_calls=[{"name": name, "args": {}, "id": "1"}]) for name in old.exposed.values()
    ]
    replayed = [made["name"] for m in rename_tools(stored, rename_map(old, new)) for made in m.tool_calls]
    assert [problem for name in replayed for problem in violations(rule, name=name)] == []
    assert [new.find(name) for name in replayed] == tools


def corpus_tools() -> list[tuple[str, str]]:
    return [
        (path.stem, tool["name"])
        for path in sorted(CORPUS.glob("*.json"))
        for tool in json.loads(path.read_text("utf-8"))["tools"]
    ]


@needs_corpus
@pytest.mark.parametrize("policy", POLICIES, ids=lambda p: f"{p.first}-{p.max_length}-{p.prefix}-{p.hashed}")
def test_all_real_servers_together_get_legal_unique_names_in_any_order(policy):
    tools = corpus_tools()
    names = assign_names(tools, policy)
    assert list(names.exposed) == tools
    assert len(names.sources) == len(tools)
    assert all(policy.rule.allows(name) for name in names.sources)
    assert assign_names(tools[::-1], policy).exposed == names.exposed


def short_hash(server: str, tool: str) -> str:
    digest = hashlib.sha256(f"{server}\0{tool}".encode()).digest()
    return "_" + base64.b32encode(digest).decode()[:8].lower()


@needs_corpus
@pytest.mark.parametrize("prefix", ["always", "never", "on_clash"])
def test_most_names_of_real_servers_stay_as_they_are(prefix, capsys):
    tools = corpus_tools()
    names = assign_names(tools, NamePolicy(prefix=prefix)).exposed
    plain = {(s, t): f"{s}_{t}" if prefix == "always" else t for s, t in tools}
    changed = [tool for tool in tools if names[tool] != plain[tool]]
    hashed = [tool for tool in changed if names[tool].endswith(short_hash(*tool))]
    with capsys.disabled():
        print(f"\n{prefix}: {len(tools)} tools, {len(changed)} names changed, {len(hashed)} with a hash")
    assert len(changed) < len(tools) / 10
