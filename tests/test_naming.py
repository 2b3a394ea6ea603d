"""Names that models see: legal, unique, stable, and leading back to their tool."""

from __future__ import annotations

import json
import pickle
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_adapters.errors import ConfigError, ToolboxLoadError, ToolNotFoundError
from mcp_adapters.naming import NamePolicy, Names, assign_names, rename_map, server_key
from mcp_adapters.naming.spelling import Speller
from mcp_adapters.providers import PROFILES
from mcp_adapters.spec import SkippedTool

UNHURRIED = settings(deadline=None)

ALWAYS = NamePolicy()
NEVER = NamePolicy(prefix="never")
ON_CLASH = NamePolicy(prefix="on_clash")
STABLE = NamePolicy(hashed="every_change")
PORTABLE = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,62}")


def exposed(policy: NamePolicy, *tools: tuple[str, str], kept: Names | None = None) -> list[str]:
    names = assign_names(tools, policy, kept=kept.given if kept else None)
    return [names.exposed[tool] for tool in tools]


@pytest.mark.parametrize(
    ("policy", "tool", "name"),
    [
        (ALWAYS, ("fs", "read_file"), "fs_read_file"),
        (ALWAYS, ("fs", "read-file"), "fs_read-file"),
        (ALWAYS, ("my server", "read/file"), "my_server_read_file"),
        (ALWAYS, ("api", "GET:/items/{id}"), "api_GET__items__id_"),
        (ALWAYS, ("a", "list_items\n"), "a_list_items_"),
        (ALWAYS, ("a", "naïve café"), "a_na_ve_caf_"),
        (ALWAYS, ("a", "x\u0661\uff11"), "a_x__"),
        (ALWAYS, ("3d", "print"), "t_3d_print"),
        (ALWAYS, ("-a", "b"), "t_-a_b"),
        (ALWAYS, ("天气", "read"), "read"),
        (ALWAYS, ("", "read"), "read"),
        (NEVER, ("fs", "read.file"), "read_file"),
        (NEVER, ("fs", "1password"), "t_1password"),
        (NEVER, ("fs", "_private"), "t__private"),
        (ON_CLASH, ("fs", "read.file"), "read_file"),
        (NamePolicy(separator="__"), ("fs", "read"), "fs__read"),
        (NamePolicy.for_provider("gemini", separator="."), ("fs", "a:b/c"), "fs.a:b_c"),
        (NamePolicy.for_provider("gemini", prefix="never"), ("fs", "_a.b"), "_a.b"),
        (NamePolicy.for_provider("openai", prefix="never"), ("fs", "1password"), "1password"),
        (NamePolicy.for_provider("anthropic"), ("s", "c" * 126), "s_" + "c" * 126),
    ],
)
def test_a_tool_alone_is_called_by_its_legal_characters(policy, tool, name):
    assert exposed(policy, tool) == [name]


@pytest.mark.parametrize(
    ("policy", "tool", "stem"),
    [
        (ALWAYS, ("天气", "查询"), "tool"),
        (ALWAYS, ("weather", "查询"), "weather_tool"),
        (ALWAYS, ("a", ""), "a_tool"),
        (NEVER, ("weather", "?!"), "tool"),
        (ALWAYS, ("s" * 60, "read_file"), "s" * 44 + "_read_file"),
        (ALWAYS, ("serverserver", "t" * 53), "t" * 53),
        (ALWAYS, ("serverserver", "t" * 52), "s_" + "t" * 52),
        (ALWAYS, ("server", "9" * 80), "t_" + "9" * 52),
        (NEVER, ("server", "t" * 64), "t" * 54),
        (STABLE, ("fs", "read.file"), "fs_read_file"),
        (NamePolicy(max_length=16), ("server", "read_files"), "read_fi"),
    ],
)
def test_a_name_that_is_cut_or_unreadable_ends_in_a_hash_of_its_tool(policy, tool, stem):
    (name,) = exposed(policy, tool)
    assert re.fullmatch(re.escape(stem) + "_[a-z2-7]{8}", name)
    assert policy.rule.allows(name)


def test_the_hash_is_that_of_server_nul_tool():
    """Fixed for ever: names stand in stored conversations."""
    assert exposed(STABLE, ("fs", "read.file")) == ["fs_read_file_u4gcoabp"]


@pytest.mark.parametrize(
    ("policy", "tools", "stems"),
    [
        pytest.param(
            NEVER,
            [("s", "foo.bar"), ("s", "foo_bar"), ("s", "foo/bar")],
            ["foo_bar_#", "foo_bar", "foo_bar_#"],
        ),
        pytest.param(NEVER, [("a", "search"), ("b", "search")], ["search_#", "search_#"]),
        pytest.param(ALWAYS, [("a", "search"), ("b", "search")], ["a_search", "b_search"]),
        pytest.param(ALWAYS, [("a", "b_c"), ("a_b", "c")], ["a_b_c_#", "a_b_c_#"]),
        pytest.param(ALWAYS, [("a", "b_c"), ("a b", "c")], ["a_b_c", "a_b_c_#"]),
        pytest.param(ALWAYS, [("a", "x:y"), ("a", "x y"), ("a", "x.y")], ["a_x_y_#", "a_x_y_#", "a_x_y_#"]),
        pytest.param(ALWAYS, [("s", "get"), ("s", "GET"), ("s", "g-t")], ["s_get", "s_GET", "s_g-t"]),
        pytest.param(
            ON_CLASH, [("a", "search"), ("b", "search"), ("c", "get")], ["a_search", "b_search", "get"]
        ),
        pytest.param(ON_CLASH, [("a", "a_b"), ("b", "a.b")], ["a_b", "b_a_b"]),
        pytest.param(
            ON_CLASH,
            [("a", "s"), ("b", "s"), ("c", "a_s")],
            ["a_s_#", "b_s", "a_s"],
            id="prefixed meets bare",
        ),
        pytest.param(
            ON_CLASH,
            [("x", "a_b"), ("y", "a_b"), ("a", "b"), ("z", "b")],
            ["x_a_b", "y_a_b", "a_b_#", "z_b"],
            id="a contested name stays unused",
        ),
        pytest.param(
            NamePolicy(prefix="never", reserved=("handoff",)),
            [("a", "handoff")],
            ["handoff_#"],
            id="reserved",
        ),
        pytest.param(NamePolicy(prefix="on_clash", reserved=("handoff",)), [("a", "handoff")], ["a_handoff"]),
        pytest.param(NamePolicy(reserved=("handoff",)), [("a", "handoff")], ["a_handoff"]),
        pytest.param(
            NamePolicy(prefix="never", reserved=("handoff",), on_duplicate="error"),
            [("a", "handoff")],
            ["handoff_#"],
        ),
        pytest.param(
            NamePolicy(prefix="never", reserved=("handoff",), on_duplicate="keep_first"),
            [("a", "handoff"), ("a", "x")],
            ["handoff_#", "x"],
        ),
    ],
)
def test_tools_that_want_one_name_are_told_apart_in_any_order(policy, tools, stems):
    names = exposed(policy, *tools)
    assert [
        re.sub("_[a-z2-7]{8}$", "_#", name) if "#" in stem else name
        for name, stem in zip(names, stems, strict=True)
    ] == stems
    assert len(set(names)) == len(tools)
    assert exposed(policy, *reversed(tools)) == names[::-1]


def test_a_published_name_equal_to_a_generated_one_pushes_the_generated_one_to_a_longer_hash():
    lengths = []
    tools = [("s", "a/b"), ("s", "a_b")]
    for _ in range(6):
        name = exposed(NEVER, *tools)[0]
        lengths.append(len(name) - len("a_b_"))
        tools.append(("s", name))
        assert exposed(NEVER, *tools)[1:] == [tool for _, tool in tools[1:]]
    assert lengths == [8, 16, 26, 52, 52, 52]


def test_a_published_name_cannot_take_over_a_generated_one_that_was_given_before():
    before = assign_names([("a", "x/y")], NEVER)
    assert before.exposed == {("a", "x/y"): "x_y"}
    after = assign_names([("evil", "x_y"), ("a", "x/y")], NEVER, kept=before.given)
    assert after.exposed[("a", "x/y")] == "x_y"
    assert re.fullmatch("x_y_[a-z2-7]{8}", after.exposed[("evil", "x_y")])


def test_the_name_of_a_tool_that_is_gone_waits_for_it():
    first = assign_names([("a", "x/y"), ("a", "z")], NEVER)
    second = assign_names([("a", "x.y")], NEVER, kept=first.given)
    third = assign_names([("a", "x.y"), ("a", "x/y")], NEVER, kept=second.given)
    assert second.exposed == {("a", "x.y"): third.exposed[("a", "x.y")]}
    assert third.exposed[("a", "x/y")] == "x_y"
    assert third.exposed[("a", "x.y")] != "x_y"
    assert third.given[("a", "z")] == "z"


@pytest.mark.parametrize(
    "kept",
    [{("a", "x"): "a.x"}, {("a", "x"): "n", ("b", "x"): "n"}, {("a", "x"): "handoff"}, {("a", "x"): ""}],
)
def test_kept_names_that_break_the_policy_are_refused(kept):
    with pytest.raises(ConfigError):
        assign_names([], NamePolicy(reserved=("handoff",)), kept=kept)


def test_duplicates_are_refused_all_at_once_when_asked():
    policy = NamePolicy(prefix="never", on_duplicate="error")
    tools = [("b", "s"), ("a", "s"), ("a", "x.y"), ("a", "x_y"), ("a", "fine/too")]
    with pytest.raises(ToolboxLoadError) as caught:
        assign_names(tools, policy)
    assert "  's' is wanted by 'a:s', 'b:s'\n  'x_y' is wanted by 'a:x.y', 'a:x_y'\n" in str(caught.value)
    assert [(tool.server, tool.name) for tool in caught.value.tools] == [
        ("a", "s"),
        ("b", "s"),
        ("a", "x.y"),
        ("a", "x_y"),
    ]
    assert exposed(policy, *tools[-1:]) == ["fine_too"]


def test_a_later_duplicate_of_a_kept_name_is_refused_too():
    policy = NamePolicy(prefix="never", on_duplicate="error")
    kept = assign_names([("a", "s")], policy).given
    with pytest.raises(ToolboxLoadError):
        assign_names([("a", "s"), ("b", "s")], policy, kept=kept)


def test_only_the_first_of_several_is_kept_when_asked_and_the_others_are_reported():
    policy = NamePolicy(prefix="never", on_duplicate="keep_first")
    names = assign_names([("b", "x.y"), ("a", "x_y"), ("c", "z")], policy)
    reason = "its name 'x_y' is already that of 'b:x.y'"
    assert names.exposed == {("b", "x.y"): "x_y", ("c", "z"): "z"}
    assert names.skipped == (
        SkippedTool(
            server="a",
            name="x_y",
            reason=reason,
            remedy='leave one of them out with a filter, or use on_duplicate="rename"',
        ),
    )
    assert names.warnings == (f"tool 'x_y' of server 'a' was left out: {reason}",)


def test_the_first_given_stays_the_first_when_it_comes_later_in_the_listing():
    policy = NamePolicy(prefix="never", on_duplicate="keep_first")
    kept = assign_names([("a", "s")], policy).given
    names = assign_names([("b", "s"), ("a", "s")], policy, kept=kept)
    assert names.exposed == {("a", "s"): "s"}
    assert [(tool.server, tool.name) for tool in names.skipped] == [("b", "s")]


def test_a_tool_that_is_listed_twice_has_one_name_and_a_warning():
    names = assign_names([("a", "x"), ("a", "x")], ALWAYS)
    assert names.exposed == {("a", "x"): "a_x"}
    assert names.warnings == ("server 'a' lists 'x' 2 times; all of them have one name",)


@pytest.mark.parametrize(
    ("tools", "called", "found"),
    [
        (["get-library-docs"], "get_library_docs", "get-library-docs"),
        (["get-library-docs"], "Get_Library-Docs", "get-library-docs"),
        (["read-only", "read_only"], "read_only", "read_only"),
        (["read-only", "read_only"], "read-only", "read-only"),
    ],
)
def test_a_name_is_found_exactly_or_as_the_only_one_that_differs_in_case_and_hyphens(tools, called, found):
    names = assign_names([("s", tool) for tool in tools], NEVER)
    assert names.find(called) == ("s", found)


@pytest.mark.parametrize(
    ("tools", "called", "closest"),
    [
        (["getItem", "GetItem"], "getitem", ("GetItem", "getItem")),
        (["read-only", "read_only"], "READ_ONLY", ("read-only", "read_only")),
        (["search_docs"], "search_doc", ("search_docs",)),
        (["search"], "zzz", ()),
    ],
)
def test_a_name_that_is_not_clear_is_an_error_with_the_closest(tools, called, closest):
    names = assign_names([("s", tool) for tool in tools], NEVER)
    with pytest.raises(ToolNotFoundError) as caught:
        names.find(called)
    assert caught.value.closest == closest
    assert repr(called) in str(caught.value)


def test_the_name_of_a_tool_that_is_gone_is_not_taken_for_a_similar_one():
    before = assign_names([("s", "read-only")], NEVER)
    after = assign_names([("s", "read_only")], NEVER, kept=before.given)
    with pytest.raises(ToolNotFoundError):
        after.find("read-only")
    assert after.find("READ_only") == ("s", "read_only")


def test_names_lead_from_an_old_assignment_to_a_new_one():
    tools = [("a", "x"), ("a", "y/z"), ("a", "gone")]
    old = assign_names(tools, NEVER)
    new = assign_names(tools[:2], ALWAYS)
    assert rename_map(old, new) == {"x": "a_x", "y_z": "a_y_z"}
    assert rename_map(new, new) == {}


@pytest.mark.parametrize(
    ("reported", "key"), [(None, "mcp"), ("", "mcp"), (" \n", "mcp"), (" Notion API ", "Notion API")]
)
def test_a_server_without_a_key_is_called_as_it_says(reported, key):
    assert server_key(reported) == key


@pytest.mark.parametrize(
    "policy",
    [
        NamePolicy(),
        NamePolicy(prefix="on_clash", separator="__", on_duplicate="keep_first", reserved=("a", "b")),
        NamePolicy.for_provider("gemini", hashed="every_change"),
    ],
)
def test_a_policy_survives_json_and_pickle(policy):
    assert NamePolicy.from_config(json.loads(json.dumps(policy.to_config()))) == policy
    assert pickle.loads(pickle.dumps(policy)) == policy


@pytest.mark.parametrize(
    "config",
    [
        None,
        [],
        "always",
        {"prefix": "sometimes"},
        {"prefix": True},
        {"prefix": ["always"]},
        {"on_duplicate": "skip"},
        {"hashed": "never"},
        {"first": "digit"},
        {"max_length": 15},
        {"max_length": 257},
        {"max_length": "63"},
        {"max_length": 63.0},
        {"max_length": True},
        {"separator": ""},
        {"separator": ":"},
        {"separator": "_" * 9},
        {"separator": "_\n"},
        {"separator": None},
        {"punctuation": "-"},
        {"punctuation": "_a"},
        {"punctuation": "_ "},
        {"punctuation": "_é"},
        {"punctuation": None},
        {"reserved": "handoff"},
        {"reserved": [1]},
        {"prefx": "always"},
        {1: 2},
    ],
)
def test_a_policy_that_cannot_be_is_refused(config):
    with pytest.raises(ConfigError):
        NamePolicy.from_config(config)


def test_a_policy_for_an_unknown_provider_is_refused():
    with pytest.raises(ConfigError):
        NamePolicy.for_provider("nobody")


# Few letters, so that names meet; and any text at all.
NARROW = st.text(alphabet="ab_-./ é1\0", max_size=5)
WIDE = st.text(max_size=20) | st.text(alphabet=st.characters(categories=["Cs", "Cc", "Lo"]), max_size=9)
LONG = st.builds(
    lambda part, count: part * count, st.text("ab_.", min_size=1, max_size=3), st.integers(20, 500)
)
TOOLS = st.lists(
    st.tuples(NARROW, NARROW) | st.tuples(NARROW | WIDE | LONG, NARROW | WIDE | LONG), max_size=12
)
POLICIES = st.builds(
    lambda provider, **options: NamePolicy.for_provider(provider, **options),
    st.sampled_from([entry.name for entry in PROFILES]),
    prefix=st.sampled_from(["always", "never", "on_clash"]),
    hashed=st.sampled_from(["when_needed", "every_change"]),
    separator=st.sampled_from(["_", "__", "-", "x"]),
    reserved=st.sampled_from([(), ("a", "a_b", "tool")]),
    max_length=st.sampled_from([16, 20, 63]),
)


@UNHURRIED
@given(TOOLS, POLICIES)
def test_all_names_are_legal_unique_and_lead_back_to_exactly_their_tool(tools, policy):
    names = assign_names(tools, policy)
    assert set(names.exposed) == set(tools)
    assert all(policy.rule.pattern.fullmatch(name) for name in names.exposed.values())
    assert not set(names.exposed.values()) & set(policy.reserved)
    assert {names.sources[name]: name for name in names.exposed.values()} == names.exposed
    assert [names.find(name) for name in names.exposed.values()] == list(names.exposed)


@UNHURRIED
@given(TOOLS)
def test_the_names_of_the_default_are_legal_for_every_provider(tools):
    names = assign_names(tools, NamePolicy()).exposed.values()
    assert all(PORTABLE.fullmatch(name) for name in names)
    for profile in PROFILES:
        assert profile.name_rule is None or all(profile.name_rule.allows(name) for name in names)


@UNHURRIED
@given(TOOLS, POLICIES, st.randoms(use_true_random=False))
def test_names_do_not_depend_on_the_listing_order(tools, policy, random):
    mixed = random.sample(tools, len(tools))
    assert assign_names(mixed, policy).exposed == assign_names(tools, policy).exposed


@UNHURRIED
@given(TOOLS, POLICIES)
def test_naming_again_changes_nothing(tools, policy):
    names = assign_names(tools, policy)
    again = assign_names(tools, policy, kept=names.given)
    assert (again.exposed, again.given) == (names.exposed, names.given)
    bare = NamePolicy.from_config(policy.to_config() | {"prefix": "never"})
    renamed = assign_names([("s", name) for name in names.exposed.values()], bare).exposed
    assert [tool for _, tool in renamed] == list(renamed.values())


@UNHURRIED
@given(st.lists(TOOLS, min_size=2, max_size=4), POLICIES)
def test_a_name_once_given_means_its_tool_for_ever(listings, policy):
    kept: dict[tuple[str, str], str] = {}
    for tools in listings:
        names = assign_names(tools, policy, kept=kept)
        assert kept.items() <= names.given.items()
        assert len(set(names.given.values())) == len(names.given)
        assert names.exposed == {tool: names.given[tool] for tool in names.exposed}
        kept = dict(names.given)


@UNHURRIED
@given(TOOLS, st.tuples(NARROW, NARROW), st.sampled_from([ALWAYS, NEVER, STABLE]))
def test_another_tool_changes_only_a_name_that_it_wants_itself(tools, newcomer, policy):
    """Without memory: a name changes only in a real clash, and then it is nobody's or the newcomer's."""
    before = assign_names(tools, policy)
    after = assign_names([*tools, newcomer], policy)
    wanted = assign_names([newcomer], policy).exposed[newcomer]
    changed = {name for tool, name in before.exposed.items() if after.exposed[tool] != name}
    assert changed <= {wanted}
    assert all(after.sources.get(name) in (None, newcomer) for name in changed)


@UNHURRIED
@given(st.lists(st.tuples(NARROW, NARROW), max_size=8))
def test_with_a_hash_on_every_change_a_changed_name_does_not_depend_on_the_others(tools):
    names = assign_names(tools, STABLE)
    for tool in tools:
        alone = assign_names([tool], STABLE).exposed[tool]
        assert names.exposed[tool] == alone or STABLE.rule.allows("_".join(tool))


def test_keys_with_nul_do_not_share_a_hash():
    assert len(set(exposed(STABLE, ("a\0b", "c"), ("a", "b\0c")))) == 2
    lengths = [len(name) for name in exposed(STABLE, ("a\0b", "c"), ("a", "b\0c"))]
    assert lengths == [len("a_b_c_") + 8] * 2


@pytest.mark.parametrize(
    "policy", [ALWAYS, NEVER, ON_CLASH, STABLE], ids=["always", "never", "on_clash", "stable"]
)
def test_each_tool_is_spelled_a_bounded_number_of_times(policy):
    """The work grows with the number of tools: counted, not timed."""

    def spellings(count: int) -> int:
        calls = 0
        original = Speller._parts

        def counting(self, *args):
            nonlocal calls
            calls += 1
            return original(self, *args)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Speller, "_parts", counting)
            assign_names([(f"s{i % 7}", f"tool/{i // 3}") for i in range(count)], policy)
        return calls

    assert spellings(3_000) <= 12 * 3_000
