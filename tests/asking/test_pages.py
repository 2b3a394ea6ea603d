"""Pages: what servers do nothing without, and how they say that a person is done."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from mcp_adapters import (
    ElicitationAnswer,
    ElicitationCompleted,
    ElicitationRequest,
    Handlers,
    Toolbox,
    ToolExecutionError,
)

from ..conftest import Wire, tool
from ..real_servers import everything


def agree(_: ElicitationRequest) -> ElicitationAnswer:
    return ElicitationAnswer(action="accept")


def servers(wire: Wire, **script: Any) -> dict[str, Any]:
    return {
        "wire": wire.server(
            tools=[tool(name) for name in ("visit", "visit_always", "finish", "echo")], **script
        )
    }


async def test_a_call_that_needs_a_page_first_goes_on_when_the_server_says_that_it_is_done(
    wire: Wire,
) -> None:
    asked: list[ElicitationRequest] = []
    done: list[ElicitationCompleted] = []

    async def visit(request: ElicitationRequest) -> ElicitationAnswer:
        asked.append(request)
        finishing.append(asyncio.create_task(toolbox.acall("wire_finish")))
        return ElicitationAnswer(action="accept")

    finishing: list[asyncio.Task[Any]] = []
    handlers = Handlers(elicitation=visit, elicitation_completed=done.append, completion_timeout=100)
    async with Toolbox(servers(wire), handlers=handlers) as toolbox:
        result = await toolbox.acall("wire_visit")
        await finishing[0]

    assert result.text == "ok"
    assert [(each.url, each.elicitation_id, each.tool) for each in asked] == [
        ("https://example.com/in", "page-1", "visit")
    ]
    assert done == [ElicitationCompleted(server="wire", elicitation_id="page-1")]
    assert wire.count("tools/call") == 3


def test_a_server_that_does_not_say_so_is_called_again_after_a_while(wire: Wire) -> None:
    with Toolbox(servers(wire), handlers=Handlers(elicitation=agree, completion_timeout=0.1)) as toolbox:
        assert toolbox.call("wire_visit").text == "ok"


def test_a_call_that_still_needs_the_page_is_an_error_and_not_made_a_third_time(wire: Wire) -> None:
    with Toolbox(servers(wire), handlers=Handlers(elicitation=agree, completion_timeout=0.1)) as toolbox:
        with pytest.raises(ToolExecutionError) as caught:
            toolbox.call("wire_visit_always")
        assert toolbox.call("wire_echo").text == "{}"

    assert (caught.value.code, wire.count("tools/call")) == (-32042, 3)


@pytest.mark.parametrize("action", ["decline", "cancel", None])
def test_without_consent_the_call_is_an_error_and_not_made_again(wire: Wire, action: Any) -> None:
    handlers = Handlers(elicitation=(lambda _: ElicitationAnswer(action=action)) if action else None)
    with Toolbox(servers(wire), handlers=handlers) as toolbox, pytest.raises(ToolExecutionError) as caught:
        toolbox.call("wire_visit")

    assert (caught.value.code, wire.count("tools/call")) == (-32042, 1)


async def test_pages_that_nobody_was_sent_to_are_not_announced(wire: Wire) -> None:
    done: list[ElicitationCompleted] = []
    handlers = Handlers(elicitation_completed=done.append)
    async with Toolbox(servers(wire), handlers=handlers) as toolbox:
        await toolbox.acall("wire_finish")
        await toolbox.acall("wire_echo")

    assert done == []


@pytest.mark.parametrize(
    "url",
    ["javascript:alert(1)", "file:///etc/passwd", "https://", "no address", "https://[", "https://a\u202eb/"],
)
@pytest.mark.parametrize("era", ["handshake", "modern"])
def test_what_is_no_address_of_a_page_is_never_shown(
    wire: Wire, era: str, url: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "mcp_adapters")
    question = {"mode": "url", "message": "Go", "url": url, "elicitationId": "1"}
    server = wire.server(era=era, tools=[tool("ask")], question=question)
    with Toolbox({"wire": server}, handlers=Handlers(elicitation=agree)) as toolbox:
        assert '"cancel"' in toolbox.call("wire_ask").text

    assert "cannot be asked" in caplog.text


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://example.com/x", "example.com"),
        ("https://bank.example@evil.example:8443/", "evil.example"),
        ("https://b\u0430nk.example/", "xn--bnk-6cd.example"),
        (None, ""),
    ],
)
def test_the_host_is_said_in_letters_that_cannot_be_confused(url: str | None, host: str) -> None:
    assert ElicitationRequest(server="s", message="m", mode="url", url=url).host == host


def test_the_reference_server_sends_a_person_to_a_page_before_it_goes_on() -> None:
    asked: list[str] = []

    def visit(request: ElicitationRequest) -> ElicitationAnswer:
        asked.append(request.url or "")
        return ElicitationAnswer(action="accept")

    handlers = Handlers(elicitation=visit, completion_timeout=0.1)
    with Toolbox({"e": everything()}, handlers=handlers) as toolbox:
        result = toolbox.call(
            "e_trigger-url-elicitation", {"url": "https://example.com/x", "errorPath": True}
        )

    assert asked == ["https://modelcontextprotocol.io", "https://example.com/x"]
    assert "User completed" in result.text
