"""What servers get wrong about resources and prompts, seen over the wire."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from mcp_adapters import (
    ConfigError,
    ConnectionLostError,
    DiscoveryError,
    ElicitationAnswer,
    Handlers,
    McpAdaptersError,
    Pause,
    ProtocolError,
    RequestError,
    ResourceNotFoundError,
    Toolbox,
    ToolboxLoadError,
    UnknownPart,
)
from mcp_adapters.errors import PromptNotFoundError, RequestTimeoutError

from ..conftest import Wire
from ..test_elicitation import FORM

OFFERS = {"resources": {"subscribe": True}, "prompts": {}, "completions": {}}
ERAS = pytest.mark.parametrize("era", ["handshake", "modern"])


def ok(**result: Any) -> dict[str, Any]:
    return {"result": result}


def refused(code: int, message: str = "no") -> dict[str, Any]:
    return {"error": {"code": code, "message": message}}


def offering(wire: Wire, key: str = "wire", **options: Any) -> Any:
    replies = {name.replace("__", "/"): value for name, value in options.pop("replies", {}).items()}
    return wire.server(key, offers=OFFERS, replies=replies, **options)


@ERAS
def test_one_malformed_entry_does_not_lose_the_page(
    wire: Wire, era: str, caplog: pytest.LogCaptureFixture
) -> None:
    replies = {
        "resources__list": [
            ok(resources=[{"uri": "a://1"}, {"name": "no uri"}, 3, {"uri": "a://2", "size": "x"}])
        ],
        "resources__templates__list": [ok(resourceTemplates=[{"uriTemplate": "a://{x}"}, {}])],
        "prompts__list": [ok(prompts=[{"name": "p", "arguments": [{"name": "x"}, {}, 4]}, {"title": "t"}])],
    }
    with (
        Toolbox({"w": offering(wire, era=era, replies=replies)}) as toolbox,
        caplog.at_level(logging.WARNING),
    ):
        resources = [(one.uri, one.name, one.size) for one in toolbox.list_resources()]
        templates = [one.uri_template for one in toolbox.list_resource_templates()]
        prompts = [
            (one.name, [argument.name for argument in one.arguments]) for one in toolbox.list_prompts()
        ]

    assert resources == [("a://1", "a://1", None), ("a://2", "a://2", None)]
    assert templates == ["a://{x}"]
    assert prompts == [("p", ["x"])]
    told = [record.message for record in caplog.records if "left out" in record.message]
    assert told == [
        "entry 1 of the resources of server 'w' cannot be read and is left out",
        "entry 2 of the resources of server 'w' cannot be read and is left out",
        "entry 1 of the resourceTemplates of server 'w' cannot be read and is left out",
        "entry 1 of the prompts of server 'w' cannot be read and is left out",
    ]


@ERAS
def test_all_pages_are_read(wire: Wire, era: str) -> None:
    pages = [
        ok(prompts=[{"name": "a"}], nextCursor="2"),
        ok(prompts=[{"name": "b"}], nextCursor="3"),
        ok(prompts=[{"name": "c"}]),
    ]
    with Toolbox({"w": offering(wire, era=era, replies={"prompts__list": pages})}) as toolbox:
        assert [prompt.name for prompt in toolbox.list_prompts()] == ["a", "b", "c"]

    cursors = [
        (event["params"] or {}).get("cursor")
        for event in wire.events()
        if event.get("method") == "prompts/list"
    ]
    assert cursors == [None, "2", "3"]


def test_a_listing_that_never_ends_is_an_error(wire: Wire) -> None:
    again = ok(resources=[], nextCursor="x")
    with Toolbox({"w": offering(wire, replies={"resources__list": [again]})}) as toolbox:
        with pytest.raises(DiscoveryError, match="the resources of server 'w' cannot be listed"):
            toolbox.list_resources()


@ERAS
def test_a_server_without_the_capability_is_not_asked(wire: Wire, era: str) -> None:
    with Toolbox({"w": wire.server(era=era)}) as toolbox:
        assert toolbox.list_resources() == []
        assert toolbox.list_resource_templates() == []
        assert toolbox.list_prompts() == []
        with pytest.raises(ResourceNotFoundError):
            toolbox.read_resource("a://1")
        with pytest.raises(PromptNotFoundError):
            toolbox.get_prompt("p")

    assert wire.count("resources/list") == wire.count("prompts/list") == 0


@ERAS
def test_a_listing_that_the_server_does_not_know_is_empty(wire: Wire, era: str) -> None:
    """Many servers have resources and no templates."""
    with Toolbox({"w": offering(wire, era=era, replies={"resources__list": [ok(resources=[])]})}) as toolbox:
        assert toolbox.list_resource_templates(server="w") == []


def test_one_failing_server_fails_a_listing_of_all_or_is_left_out(wire: Wire) -> None:
    broken = offering(wire, "broken", replies={"resources__list": [refused(-32603, "fetch failed")]})
    good = offering(wire, "good", replies={"resources__list": [ok(resources=[{"uri": "a://1"}])]})
    servers = {"broken": broken, "good": good}
    with Toolbox(servers) as toolbox, pytest.raises(DiscoveryError, match="fetch failed"):
        toolbox.list_resources()
    with Toolbox({"b1": broken, "b2": broken}) as toolbox, pytest.raises(ToolboxLoadError, match="2 servers"):
        toolbox.list_resources()
    with Toolbox(servers, on_server_failure="skip") as toolbox:
        assert [one.server for one in toolbox.list_resources()] == ["good"]
        with pytest.raises(DiscoveryError):
            toolbox.list_resources(server="broken")


@pytest.mark.parametrize(
    ("code", "message", "expected"),
    [
        (-32002, "Resource not found", ResourceNotFoundError),
        (-32602, "bad uri", ResourceNotFoundError),
        (-32601, "Method not found", ResourceNotFoundError),
        (0, "Unknown resource: a://1", ResourceNotFoundError),
        (-32603, "the disk is full", RequestError),
    ],
)
@ERAS
def test_the_codes_of_both_eras_say_that_a_resource_is_missing(
    wire: Wire, era: str, code: int, message: str, expected: type[Exception]
) -> None:
    server = offering(wire, era=era, replies={"resources__read": [refused(code, message)]})
    with Toolbox({"w": server}) as toolbox, pytest.raises(RequestError) as caught:
        toolbox.read_resource("a://1")

    assert type(caught.value) is expected
    assert (caught.value.server, caught.value.uri, caught.value.code) == ("w", "a://1", code)
    assert message in str(caught.value)


@ERAS
def test_malformed_contents_are_parts_that_say_so(wire: Wire, era: str) -> None:
    contents = [{"text": "no address"}, {"uri": "a://2"}, 7, {"uri": "a://3", "blob": "not base64!"}]
    with Toolbox(
        {"w": offering(wire, era=era, replies={"resources__read": [ok(contents=contents)]})}
    ) as toolbox:
        read = toolbox.read_resource("a://1")

    assert [part.kind for part in read.parts] == ["text_resource", "unknown", "unknown", "unknown"]
    assert getattr(read.parts[0], "uri", None) == "a://1"
    assert [part.raw for part in read.parts if isinstance(part, UnknownPart)] == contents[1:]


@ERAS
def test_a_prompt_of_any_shape_is_read(wire: Wire, era: str) -> None:
    messages = [
        {"role": "assistant", "content": [{"type": "text", "text": "a"}, {"type": "video"}]},
        {"role": "user", "content": "bare"},
        5,
    ]
    with Toolbox(
        {"w": offering(wire, era=era, replies={"prompts__get": [ok(messages=messages)]})}
    ) as toolbox:
        got = toolbox.get_prompt("p")

    shown = [(message.role, [part.kind for part in message.parts]) for message in got.messages]
    assert shown == [("assistant", ["text", "unknown"]), ("user", ["text"]), ("user", ["unknown"])]


@ERAS
@pytest.mark.parametrize("method", ["resources/read", "prompts/get", "prompts/list", "completion/complete"])
def test_a_read_is_sent_again_when_the_connection_is_lost(wire: Wire, era: str, method: str) -> None:
    empty = ok(contents=[], messages=[], prompts=[], completion={"values": []})
    server = offering(wire, era=era, replies={method: ["die", empty]})
    with Toolbox({"w": server}) as toolbox:
        {
            "resources/read": lambda: toolbox.read_resource("a://1"),
            "prompts/get": lambda: toolbox.get_prompt("p"),
            "prompts/list": toolbox.list_prompts,
            "completion/complete": lambda: toolbox.complete("x", prompt="p"),
        }[method]()

    assert (wire.count(method), wire.starts()) == (2, 2)


def test_a_read_that_is_lost_twice_is_an_error(wire: Wire) -> None:
    server = offering(wire, replies={"resources__read": ["die"]})
    with Toolbox({"w": server}) as toolbox, pytest.raises(ConnectionLostError) as caught:
        toolbox.read_resource("a://1")

    assert (caught.value.phase, caught.value.retriable, caught.value.tool) == ("read", True, None)
    assert wire.count("resources/read") == 2


def test_a_server_that_does_not_answer_is_an_error_in_time(wire: Wire) -> None:
    server = offering(wire, replies={"resources__read": ["hang", ok(contents=[])]})
    with Toolbox({"w": server}) as toolbox:
        with pytest.raises(RequestTimeoutError) as caught:
            toolbox.read_resource("a://1", timeout=0.2)
        assert toolbox.read_resource("a://1").parts == ()

    assert (caught.value.timeout, caught.value.uri, wire.starts()) == (0.2, "a://1", 1)


ASKS = ok(
    resultType="input_required",
    requestState="s1",
    inputRequests={"q": {"method": "elicitation/create", "params": FORM}},
)
YES = ElicitationAnswer(action="accept", content={"sure": True})


def asked_about(wire: Wire, kind: str, *replies: Any, **options: Any) -> tuple[Any, list[Any]]:
    """What comes of reading a resource or getting a prompt, and what was sent for it."""
    method = {"resource": "resources/read", "prompt": "prompts/get"}[kind]
    server = offering(wire, era="modern", replies={method.replace("/", "__"): list(replies)})
    with Toolbox({"w": server}, **options) as toolbox:
        try:
            outcome: Any = (
                toolbox.read_resource("a://1").parts
                if kind == "resource"
                else toolbox.get_prompt("p", {"a": "1"}).messages
            )
        except McpAdaptersError as error:
            outcome = error
    sent = [event["params"] for event in wire.events() if event.get("method") == method]
    return outcome, [{name: value for name, value in one.items() if name != "_meta"} for one in sent]


@pytest.mark.parametrize("kind", ["resource", "prompt"])
def test_what_is_asked_for_a_resource_or_a_prompt_is_answered(wire: Wire, kind: str) -> None:
    again = ok(**{**ASKS["result"], "requestState": "s2"})
    done = ok(contents=[]) if kind == "resource" else ok(messages=[])
    outcome, sent = asked_about(wire, kind, ASKS, again, done, handlers=Handlers(elicitation=lambda _: YES))

    first = {"uri": "a://1"} if kind == "resource" else {"name": "p", "arguments": {"a": "1"}}
    said = {"inputResponses": {"q": {"action": "accept", "content": {"sure": True}}}}
    assert outcome == ()
    assert sent == [first, {**first, **said, "requestState": "s1"}, {**first, **said, "requestState": "s2"}]


@pytest.mark.parametrize("kind", ["resource", "prompt"])
@pytest.mark.parametrize(
    ("handlers", "error", "words"),
    [
        (None, ProtocolError, "asks for input"),
        (Handlers(elicitation=Pause()), RequestError, "did not get"),
        (Handlers(elicitation=lambda _: YES), ProtocolError, "10 times"),
    ],
)
def test_what_nobody_answers_or_is_asked_for_ever_is_a_clear_error(
    wire: Wire, kind: str, handlers: Handlers | None, error: type[Exception], words: str
) -> None:
    outcome, _ = asked_about(wire, kind, ASKS, handlers=handlers)

    assert type(outcome) is error
    assert words in str(outcome)


def test_where_no_server_is_named_the_one_that_lists_the_thing_is_asked(wire: Wire) -> None:
    def server(key: str, *uris: str, prompts: tuple[str, ...] = (), template: str = "z://{x}") -> Any:
        replies = {
            "resources__list": [ok(resources=[{"uri": uri} for uri in uris])],
            "resources/templates/list": [ok(resourceTemplates=[{"uriTemplate": template}])],
            "resources__read": [ok(contents=[{"uri": "x", "text": key}])],
            "prompts__list": [ok(prompts=[{"name": name} for name in prompts])],
            "prompts__get": [ok(messages=[], description=key)],
            "completion__complete": [ok(completion={"values": [key]})],
        }
        return offering(wire, key, replies=replies)

    servers = {
        "one": server("one", "a://1", "a://both", prompts=("p", "both")),
        "two": server("two", "a://2", "a://both", prompts=("q", "both"), template="t://{x}"),
        "none": wire.server("none"),
    }
    with Toolbox(servers) as toolbox:
        assert toolbox.read_resource("a://1").text == "one"
        assert toolbox.read_resource("t://anything").text == "two"
        assert toolbox.read_resource("a://both", server="two").text == "two"
        assert toolbox.read_resource(toolbox.list_resources()[-1]).text == "two"
        assert toolbox.get_prompt("q").description == "two"
        assert toolbox.complete("x", prompt="p").values == ("one",)
        assert toolbox.complete("x", template="t://{x}").values == ("two",)
        with pytest.raises(ResourceNotFoundError, match=r"several servers .* 'one', 'two'"):
            toolbox.read_resource("a://both")
        with pytest.raises(ResourceNotFoundError, match="no server lists"):
            toolbox.read_resource("a://none")
        with pytest.raises(PromptNotFoundError, match="several servers"):
            toolbox.get_prompt("both")
        toolbox.disable("two")
        assert toolbox.get_prompt("both").description == "one"
        with pytest.raises(ConfigError, match="disabled"):
            toolbox.list_prompts(server="two")


@pytest.mark.parametrize(
    "script", [{"era": "handshake"}, {"era": "modern", "listens": False}, {"era": "modern", "honors": {}}]
)
def test_a_server_that_does_not_tell_of_changes_refuses_a_subscription(
    wire: Wire, script: dict[str, Any]
) -> None:
    with Toolbox({"w": offering(wire, **script)}) as toolbox:
        for _ in range(2):
            with pytest.raises(RequestError, match="a subscription to resource 'a://1'"):
                toolbox.subscribe("a://1", print)
        assert toolbox.call("w_echo").text == "{}"
