"""What each provider accepts, and the checks against it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_adapters.errors import ConfigError, ToolboxLoadError
from mcp_adapters.providers import (
    PORTABLE_RULE,
    PROFILES,
    NameRule,
    check_count,
    profile,
    shorten_description,
    violations,
)
from mcp_adapters.spec import ToolSpec

UNHURRIED = settings(deadline=None)


@pytest.mark.parametrize(
    ("provider", "legal", "illegal"),
    [
        ("portable", ["a", "A-_9", "a" * 63], ["", "_a", "-a", "9a", "a" * 64, "a.b", "a\n", "é", "a\u0661"]),
        ("openai", ["9", "-", "_a", "a" * 64], ["", "a.b", "a b", "a\n", "a" * 65, "天气"]),
        ("anthropic", ["9", "a" * 128], ["a.b", "a" * 129, "a\n"]),
        ("anthropic-64", ["9", "a" * 64], ["a" * 65]),
        ("gemini", ["_a", "a.b:c-d", "a" * 63], ["9", ".a", ":a", "a/b", "a" * 64]),
        ("ollama", ["", "any thing\n", "a" * 999], []),
    ],
)
def test_names_are_judged_by_the_whole_name_and_in_ascii(provider, legal, illegal):
    rules = profile(provider)
    assert [name for name in legal if violations(rules, name=name)] == []
    assert [name for name in illegal if not violations(rules, name=name)] == []


@UNHURRIED
@given(st.from_regex(re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,62}"), fullmatch=True))
def test_a_portable_name_is_legal_everywhere(name):
    assert [entry.name for entry in PROFILES if violations(entry, name=name)] == []


def test_a_tool_that_suits_the_portable_profile_suits_every_provider():
    portable = profile("portable")
    edge = "d" * portable.description_min, "d" * (portable.description_max or 0)
    for entry in PROFILES:
        assert [violations(entry, description=text, count=portable.count_max) for text in edge] == [(), ()]


@UNHURRIED
@given(
    st.sampled_from(["_", "_-", "_.:-", "_]^\\-"]), st.sampled_from(["letter", "letter_or_underscore", "any"])
)
def test_every_character_of_the_rule_is_legal_and_no_other(punctuation, first):
    rule = NameRule(punctuation=punctuation, first=first, max_length=20)
    letters = "abcxyzABCXYZ0189"
    follow = {chr(code) for code in range(256) if rule.allows("a" + chr(code))}
    assert follow == {chr(c) for c in range(128) if chr(c).isalnum()} | set(punctuation)
    leading = {mark for mark in letters + punctuation if rule.allows(mark)}
    expected = {
        "letter": {mark for mark in letters if mark.isalpha()},
        "letter_or_underscore": {mark for mark in letters if mark.isalpha()} | {"_"},
        "any": set(letters + punctuation),
    }
    assert leading == expected[first]


def test_every_word_for_a_provider_leads_to_one_profile_and_every_profile_has_its_evidence():
    words = [word for entry in PROFILES for word in (entry.name, *entry.aliases)]
    assert len(words) == len(set(words))
    assert [profile(word.upper().replace("-", "_")) for word in words] == [
        entry for entry in PROFILES for _ in (entry.name, *entry.aliases)
    ]
    assert all(re.fullmatch(r"20\d\d-\d\d", entry.as_of) for entry in PROFILES)
    assert all(e.name_source and e.description_source and e.count_source for e in PROFILES)


def test_an_unknown_provider_is_an_error_with_those_that_are_known():
    with pytest.raises(ConfigError) as caught:
        profile("nobody")
    assert all(entry.name in str(caught.value) for entry in PROFILES)


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("one two three", None, "one two three"),
        ("one two three", 13, "one two three"),
        ("one two three", 12, "one two…"),
        ("one two three", 8, "one two…"),
        ("one two three", 7, "one…"),
        ("one   two", 6, "one…"),
        ("one\ntwo three", 9, "one\ntwo…"),
        ("a bcdefghijklmnop", 10, "a bcdefgh…"),
        ("天气天气天气", 4, "天气天…"),
        ("abc", 1, "…"),
        ("", 1, ""),
    ],
)
def test_a_long_description_is_cut_at_a_word_and_marked(text, limit, expected):
    assert shorten_description(text, limit) == expected


@UNHURRIED
@given(st.text(), st.integers(1, 40))
def test_a_cut_description_fits_begins_as_before_and_is_never_empty(text, limit):
    cut = shorten_description(text, limit)
    assert len(cut) <= limit
    assert cut == text or (cut.endswith("…") and text.startswith(cut[:-1]))
    assert shorten_description(cut, limit) == cut


def test_a_description_cannot_be_cut_to_nothing():
    with pytest.raises(ConfigError):
        shorten_description("text", 0)


@pytest.mark.parametrize(
    ("provider", "facts", "problems"),
    [
        (
            "azure",
            {"description": "d" * 1025},
            ["the description has 1025 characters; Azure OpenAI takes 1024"],
        ),
        ("azure", {"description": "d" * 1024, "count": 128, "name": "n"}, []),
        ("bedrock", {"description": ""}, ["the description has 0 characters; AWS Bedrock Converse wants 1"]),
        ("openai", {"description": "", "count": 0}, []),
        (
            "portable",
            {"name": "a.b", "description": "", "count": 129},
            [
                (
                    "the name 'a.b' does not match '[A-Za-z][A-Za-z0-9_\\\\-]{0,62}', which "
                    "every provider asks for"
                ),
                "the description has 0 characters; every provider wants 1",
                "129 tools are more than the 128 that every provider takes in one request",
            ],
        ),
        ("xai", {"count": 200}, []),
        ("anthropic", {"count": 5000}, []),
        (
            "qwen",
            {"name": "n" * 65},
            [f"the name {'n' * 65!r} has 65 characters; Qwen on DashScope takes 64"],
        ),
    ],
)
def test_every_rule_that_is_broken_is_told(provider, facts, problems):
    assert list(violations(profile(provider), **facts)) == problems


def specs(server: str, count: int) -> list[ToolSpec]:
    return [
        ToolSpec(
            exposed_name=f"{server}_{n}",
            server=server,
            remote_name=str(n),
            description="d",
            input_json="{}",
            model_json="{}",
        )
        for n in range(count)
    ]


def test_too_many_tools_are_refused_with_the_number_of_each_server_largest_first():
    with pytest.raises(ToolboxLoadError) as caught:
        check_count([*specs("linear", 60), *specs("github", 90)], profile("openai"))
    assert str(caught.value) == (
        "150 tools are more than the 128 that OpenAI Chat Completions takes in one request "
        "('github' has 90, 'linear' has 60); leave some out with tools=ToolFilter.allow(...) or "
        "ToolFilter.deny(...), or use fewer servers"
    )


def test_a_count_at_the_limit_or_without_a_limit_passes():
    check_count({"a": 100, "b": 28}, profile("openai"))
    check_count({"a": 10_000}, profile("ollama"))
    check_count([], profile("groq"))


def test_a_count_over_hundreds_of_servers_gives_a_short_message():
    with pytest.raises(ToolboxLoadError) as caught:
        check_count({f"server{n}": 1 for n in range(500)}, profile("openai"))
    assert "and 480 more servers" in str(caught.value)


def test_the_portable_rule_is_the_default_rule():
    assert NameRule() == PORTABLE_RULE
