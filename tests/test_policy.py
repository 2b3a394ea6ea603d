"""Which calls a policy allows, has a person asked about, or denies; and what becomes of the others."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcp_adapters import ApprovalPolicy, ConfigError, ToolAnnotations, Toolbox, ask_first

from .conftest import Wire, tool

READS = ToolAnnotations(read_only=True)
WRITES = ToolAnnotations(read_only=False, destructive=False)
SILENT = ToolAnnotations()

RULINGS: dict[str, tuple[ApprovalPolicy, ToolAnnotations, str]] = {
    "nobody is believed": (ApprovalPolicy(), READS, "ask"),
    "a trusted server is": (ApprovalPolicy(trusted=["files"]), READS, "allow"),
    "another server is not": (ApprovalPolicy(trusted=["other"]), READS, "ask"),
    "a trusted server that says nothing": (ApprovalPolicy(trusted=["files"]), SILENT, "ask"),
    "a trusted server that says that it writes": (ApprovalPolicy(trusted=["files"]), WRITES, "ask"),
    "the user's word": (ApprovalPolicy(reads_only=["read_*"]), WRITES, "allow"),
    "the user's word for one server": (ApprovalPolicy(reads_only=["files:read_file"]), WRITES, "allow"),
    "the user's word for another": (ApprovalPolicy(reads_only=["other:*"]), WRITES, "ask"),
    "another default": (ApprovalPolicy(default="allow"), WRITES, "allow"),
    "all others are denied": (ApprovalPolicy(trusted=["files"], default="deny"), WRITES, "deny"),
    "an override comes before hints": (
        ApprovalPolicy(trusted=["files"], overrides={"read_file": "ask"}),
        READS,
        "ask",
    ),
    "the last pattern": (
        ApprovalPolicy(overrides={"*": "deny", "read_*": "allow", "files:*": "ask"}),
        READS,
        "ask",
    ),
    "a name comes before patterns": (
        ApprovalPolicy(overrides={"files:read_file": "deny", "*": "allow"}),
        READS,
        "deny",
    ),
    "no name in an override": (ApprovalPolicy(overrides={"Read_File": "deny"}), SILENT, "ask"),
}


@pytest.mark.parametrize(("policy", "hints", "decision"), RULINGS.values(), ids=RULINGS)
def test_the_first_that_applies_decides(
    policy: ApprovalPolicy, hints: ToolAnnotations, decision: str
) -> None:
    ruling = policy.rule("files", "read_file", hints)
    assert ruling.decision == decision
    assert ruling.reason


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"overrides": {"x": "yes"}}, r"a decision is one of 'allow', 'ask', 'deny', not 'yes'"),
        ({"default": True}, "a decision is one of .* not True"),
        ({"trusted": "files"}, r"trusted takes several names; for one write \['files'\]"),
        ({"reads_only": "read_*"}, "reads_only takes several names"),
    ],
)
def test_a_policy_that_cannot_be_meant_is_an_error(given: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        ApprovalPolicy(**given)


def hinted(name: str, **hints: bool) -> dict[str, Any]:
    return {**tool(name), "annotations": hints}


LISTED = [hinted("echo", readOnlyHint=True), hinted("write", readOnlyHint=False), tool("silent")]


@pytest.mark.parametrize(
    ("policy", "offered"),
    [
        (ApprovalPolicy(trusted=["wire"]), ["echo"]),
        (ApprovalPolicy(reads_only=["silent"]), ["silent"]),
        (ApprovalPolicy(trusted=["wire"], overrides={"echo": "deny", "write": "allow"}), []),
        (ApprovalPolicy(trusted=["other"]), []),
    ],
)
def test_a_read_only_toolbox_has_what_only_reads_by_somebody_s_word_that_counts(
    wire: Wire, policy: ApprovalPolicy, offered: list[str]
) -> None:
    with Toolbox({"wire": wire.server(tools=LISTED)}, policy=policy, read_only=True) as toolbox:
        assert [made.remote_name for made in toolbox] == offered
        assert {skipped.name for skipped in toolbox.skipped} == {"echo", "write", "silent"} - {*offered}
        assert all("left out by " in skipped.reason for skipped in toolbox.skipped)


@pytest.mark.parametrize("policy", [None, ApprovalPolicy(), ApprovalPolicy(default="allow")])
def test_read_only_without_a_word_to_take_is_an_error(policy: ApprovalPolicy | None) -> None:
    with pytest.raises(ConfigError, match="read_only=True needs to know what only reads"):
        Toolbox({}, policy=policy, read_only=True)


def test_a_hint_that_changes_within_a_run_takes_the_tool_away(wire: Wire) -> None:
    server = wire.server(tools=LISTED)
    with Toolbox({"wire": server}, policy=ApprovalPolicy(trusted=["wire"]), read_only=True) as toolbox:
        wire.rewrite(tools=[hinted("echo", readOnlyHint=False)])
        toolbox.refresh()
        assert list(toolbox) == []


def test_a_denied_tool_is_not_offered_and_not_checked(wire: Wire) -> None:
    bad = {"name": "bad", "inputSchema": {"type": "array"}}
    policy = ApprovalPolicy(overrides={"bad": "deny", "write": "deny"})
    with Toolbox({"wire": wire.server(tools=[*LISTED, bad])}, policy=policy) as toolbox:
        assert [made.remote_name for made in toolbox] == ["echo", "silent"]
        assert {skipped.name: skipped.reason for skipped in toolbox.skipped} == {
            name: f"left out by the policy: the policy says so for {name!r}" for name in ("write", "bad")
        }


class Person:
    """Says yes to some tools, and remembers what was asked."""

    def __init__(self, *approved: str) -> None:
        self.approved = approved
        self.asked: list[tuple[str, Any]] = []

    def ask(self, request: Any) -> bool:
        self.asked.append((request.exposed_name, dict(request.arguments)))
        return request.tool in self.approved

    async def ask_later(self, request: Any) -> bool:
        return self.ask(request)


ASKED = [hinted("echo", readOnlyHint=True), tool("other"), tool("third"), tool("never")]
POLICY = ApprovalPolicy(trusted=["wire"], overrides={"never": "deny"})
REFUSED = "wire_third was not called: the user did not approve this call"


@pytest.mark.anyio
@pytest.mark.parametrize("asynchronous", [True, False], ids=["an async function", "a function"])
@pytest.mark.parametrize("awaited", [True, False], ids=["acall", "call"])
async def test_a_person_is_asked_where_the_policy_says_so(
    wire: Wire, *, asynchronous: bool, awaited: bool
) -> None:
    person = Person("other")
    asking = ask_first(POLICY, person.ask_later if asynchronous else person.ask)
    async with Toolbox({"wire": wire.server(tools=ASKED)}, interceptors=[asking]) as toolbox:
        answers = {}
        for made in toolbox:
            result = await made.acall({"n": 1}) if awaited else made.call({"n": 1})
            answers[made.remote_name] = (result.is_error, result.text)
    assert person.asked == [("wire_other", {"n": 1}), ("wire_third", {"n": 1})]
    assert answers["echo"] == (False, json.dumps({"n": 1}))
    assert answers["other"] == (False, "ok")
    assert answers["third"][0]
    assert answers["third"][1].startswith(REFUSED)
    assert answers["never"][0]
    assert answers["never"][1].startswith("wire_never was not called: the policy forbids this call")
    assert wire.count("tools/call") == 2


@pytest.mark.parametrize("answer", [None, 1, "yes", []])
def test_only_true_is_a_yes(wire: Wire, answer: Any) -> None:
    asking = ask_first(ApprovalPolicy(), lambda request: answer)
    with Toolbox({"wire": wire.server()}, interceptors=[asking]) as toolbox:
        assert toolbox.call("wire_echo").is_error
    assert wire.count("tools/call") == 0


def test_what_asking_raises_passes_through_and_nothing_is_called(wire: Wire) -> None:
    def ask(request: Any) -> bool:
        raise KeyboardInterrupt

    with Toolbox({"wire": wire.server()}, interceptors=[ask_first(ApprovalPolicy(), ask)]) as toolbox:
        with pytest.raises(KeyboardInterrupt):
            toolbox.call("wire_echo")
    assert wire.count("tools/call") == 0


def test_a_policy_decides_alike_about_a_tool_its_spec_and_a_request(wire: Wire) -> None:
    seen: list[Any] = []
    policy = ApprovalPolicy(trusted=["wire"])
    asking = ask_first(policy, lambda request: seen.append(policy.of(request)) is None)
    with Toolbox({"wire": wire.server(tools=[tool("silent")])}, interceptors=[asking]) as toolbox:
        made = toolbox["wire_silent"]
        made.call()
        assert [policy.of(made), policy.of(made.spec)] == seen * 2
