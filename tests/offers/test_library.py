"""Resources, prompts and completions of a server of both eras, over both transports."""

from __future__ import annotations

import pickle
import threading
from queue import Queue
from typing import Any

import pytest
from mcp import Client

from mcp_adapters import (
    BlobResourcePart,
    Completion,
    ConfigError,
    HttpServer,
    Prompt,
    PromptArgument,
    PromptMessage,
    PromptNotFoundError,
    RequestError,
    Resource,
    ResourceNotFoundError,
    ResourceTemplate,
    ResourceUpdated,
    SyncCallInEventLoopError,
    TextPart,
    TextResourcePart,
    Toolbox,
    ToolboxClosedError,
    _subscriptions,
)

from ..web import Web
from . import library
from .conftest import Protocol, library_server

README = Resource(
    server="lib",
    uri="lib://readme",
    name="readme",
    title="Read me",
    description="What there is",
    mime_type="text/plain",
)
BOOK = ResourceTemplate(
    server="lib",
    uri_template="lib://books/{title}",
    name="Book",
    description="One book",
    mime_type="text/plain",
)
GREET = Prompt(
    server="lib",
    name="greet",
    description="Greets somebody",
    arguments=(PromptArgument(name="name", required=True), PromptArgument(name="mood")),
)
LONG = 60
"""Seconds after which a test that waits for news fails instead of hanging."""


def bare(value: Any) -> Any:
    """A value without what came over the wire, to compare it with one that was made by hand."""
    from dataclasses import replace

    return replace(value, raw={})


def test_listings_are_values(lib: Toolbox) -> None:
    assert bare(lib.list_resources()[0]) == README
    assert [one.uri for one in lib.list_resources()] == ["lib://readme", "lib://dot.png", "lib://index.json"]
    assert bare(lib.list_resource_templates()[0]) == BOOK
    assert bare(lib.list_prompts()[0]) == GREET
    assert lib.list_resources(server="lib") == lib.list_resources()
    assert lib.list_resources()[0].raw["uri"] == "lib://readme"


@pytest.mark.parametrize(
    ("uri", "text"),
    [
        ("lib://readme", "Three books."),
        ("lib://books/Emma", "The text of Emma."),
        ("lib://search?q=a&limit=3", "3 books with 'a'"),
        ("lib://index.json", '["Emma"]'),
        ("lib://dot.png", "[resource lib://dot.png, image/png, 70 bytes]"),
    ],
)
def test_a_resource_can_be_read_by_its_address(lib: Toolbox, uri: str, text: str) -> None:
    assert lib.read_resource(uri).text == text


def test_contents_are_parts(lib: Toolbox) -> None:
    listed = lib.list_resources()

    assert lib.read_resource(listed[0]).parts == (
        TextResourcePart(uri="lib://readme", text="Three books.", mime_type="text/plain"),
    )
    assert lib.read_resource(listed[1]).parts == (
        BlobResourcePart(uri="lib://dot.png", blob=library.PIXEL, mime_type="image/png"),
    )


def test_a_resource_that_is_not_there_is_an_error_of_its_own(lib: Toolbox) -> None:
    with pytest.raises(ResourceNotFoundError) as caught:
        lib.read_resource("lib://nothing")

    error = caught.value
    assert (error.server, error.uri, error.method, error.phase) == (
        "lib",
        "lib://nothing",
        "resources/read",
        "read",
    )


def test_a_prompt_is_filled_in(lib: Toolbox) -> None:
    got = lib.get_prompt("greet", {"name": "Ada", "mood": "short"})

    assert (got.server, got.name, got.description) == ("lib", "greet", "Greets somebody")
    assert got.messages == (
        PromptMessage(role="user", parts=(TextPart(text="Say something short to Ada."),)),
        PromptMessage(role="assistant", parts=(TextPart(text="I will."),)),
    )


def test_a_prompt_that_is_not_there_is_an_error_of_its_own(lib: Toolbox) -> None:
    with pytest.raises(PromptNotFoundError) as caught:
        lib.get_prompt("gret", {"name": "Ada"})

    assert (caught.value.server, caught.value.prompt) == ("lib", "gret")
    assert caught.value.closest == ("greet",)


def test_a_missing_argument_is_named_whatever_the_server_says(lib: Toolbox) -> None:
    with pytest.raises(RequestError, match="requires the arguments 'name'") as caught:
        lib.get_prompt("greet", {"mood": "kind"})

    assert not isinstance(caught.value, PromptNotFoundError)


def test_an_argument_that_is_no_text_is_refused_before_anything_is_sent(lib: Toolbox) -> None:
    with pytest.raises(ConfigError, match="'name' is a int"):
        lib.get_prompt("greet", {"name": 3})  # type: ignore[dict-item]


def test_arguments_and_variables_are_completed_with_context(lib: Toolbox) -> None:
    assert lib.complete("mood", "k", prompt="greet") == Completion(values=("kind", "keen"), total=2)
    assert lib.complete("mood", prompt="greet", context={"name": "Dracula"}).values == ("grim",)
    assert lib.complete("title", "D", template=BOOK).values == ("Dracula", "Dubliners")
    assert lib.complete("title", "E", template="lib://books/{title}").values == ("Emma",)
    assert lib.complete("q", "", template="lib://search{?q,limit}") == Completion()


@pytest.mark.parametrize("about", [{}, {"prompt": "greet", "template": "lib://books/{title}"}])
def test_a_completion_is_for_exactly_one_thing(lib: Toolbox, about: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="exactly one"):
        lib.complete("mood", **about)  # type: ignore[arg-type]


async def test_the_asynchronous_forms_do_the_same(lib: Toolbox) -> None:
    assert await lib.alist_resources() == lib.list_resources()
    assert await lib.alist_resource_templates() == lib.list_resource_templates()
    assert await lib.alist_prompts() == lib.list_prompts()
    assert (await lib.aread_resource("lib://readme")).parts == lib.read_resource("lib://readme").parts
    prompt = await lib.aget_prompt("greet", {"name": "Ada"})
    assert prompt.messages == lib.get_prompt("greet", {"name": "Ada"}).messages
    assert await lib.acomplete("title", "D", template=BOOK) == lib.complete("title", "D", template=BOOK)
    with pytest.raises(ResourceNotFoundError):
        await lib.aread_resource("lib://nothing")


def test_a_function_hears_of_changes_until_it_unsubscribes(lib: Toolbox) -> None:
    heard: Queue[ResourceUpdated] = Queue()
    lib.subscribe("lib://books/Emma", heard.put)
    lib.call("lib_touch", {"uri": "lib://books/Emma"})
    assert heard.get(timeout=LONG) == ResourceUpdated(
        server="lib", uri="lib://books/Emma", subscribed_uri="lib://books/Emma"
    )

    lib.unsubscribe("lib://books/Emma")
    lib.subscribe("lib://readme", heard.put)
    lib.call("lib_touch", {"uri": "lib://books/Emma"})
    lib.call("lib_touch", {"uri": "lib://readme"})
    assert heard.get(timeout=LONG).uri == "lib://readme"
    lib.unsubscribe("lib://readme")
    assert heard.empty()


def test_two_functions_hear_of_one_resource_and_one_can_go(lib: Toolbox) -> None:
    first: Queue[ResourceUpdated] = Queue()
    second: Queue[ResourceUpdated] = Queue()
    lib.subscribe("lib://readme", first.put)
    lib.subscribe("lib://readme", second.put)
    lib.call("lib_touch", {"uri": "lib://readme"})
    assert first.get(timeout=LONG) == second.get(timeout=LONG)

    lib.unsubscribe("lib://readme", first.put)
    lib.call("lib_touch", {"uri": "lib://readme"})
    second.get(timeout=LONG)
    lib.unsubscribe("lib://readme")
    assert first.empty()
    lib.unsubscribe("lib://readme")


async def test_an_asynchronous_subscription_is_told_on_the_calling_loop(lib: Toolbox) -> None:
    import asyncio

    here, news = threading.get_ident(), asyncio.Event()
    threads: list[int] = []

    async def hear(_: ResourceUpdated) -> None:
        threads.append(threading.get_ident())
        news.set()

    await lib.asubscribe("lib://dot.png", hear)
    await lib.acall("lib_touch", {"uri": "lib://dot.png"})
    async with asyncio.timeout(LONG):
        await news.wait()
    await lib.aunsubscribe("lib://dot.png", hear)
    assert set(threads) == {here}


def test_a_subscription_outlives_a_lost_connection(protocol: Protocol) -> None:
    """Nobody has to use the toolbox for it: who subscribed waits for news."""
    heard: Queue[ResourceUpdated] = Queue()
    with Toolbox({"lib": library_server(protocol)}) as toolbox:
        toolbox.subscribe("lib://readme", heard.put)
        with pytest.raises(Exception, match="exit code 7"):
            toolbox.call("lib_die")
        again = heard.get(timeout=LONG)
        toolbox.call("lib_touch", {"uri": "lib://readme"})
        then = heard.get(timeout=LONG)

    assert (again.after_gap, then.after_gap) == (True, False)
    assert then.uri == "lib://readme"


def test_a_subscription_outlives_a_restart_but_not_the_toolbox(protocol: Protocol) -> None:
    heard: Queue[ResourceUpdated] = Queue()
    toolbox = Toolbox({"lib": library_server(protocol)})
    with toolbox:
        toolbox.subscribe("lib://readme", heard.put)
        toolbox.restart("lib")
        assert heard.get(timeout=LONG).after_gap
        toolbox.call("lib_touch", {"uri": "lib://readme"})
        assert not heard.get(timeout=LONG).after_gap
    with toolbox:
        toolbox.call("lib_touch", {"uri": "lib://readme"})
        toolbox.subscribe("lib://dot.png", heard.put)
        toolbox.call("lib_touch", {"uri": "lib://dot.png"})
        assert heard.get(timeout=LONG).uri == "lib://dot.png"
    assert heard.empty()


def test_a_closed_toolbox_reads_nothing() -> None:
    toolbox = Toolbox({})
    with pytest.raises(ToolboxClosedError):
        toolbox.list_resources()
    with pytest.raises(ToolboxClosedError):
        toolbox.read_resource("lib://readme", server="lib")


def test_an_unknown_server_is_named_with_those_there_are(lib: Toolbox) -> None:
    with pytest.raises(ConfigError, match="'lib'"):
        lib.list_prompts(server="nobody")


def test_a_server_object_of_this_program_offers_the_same() -> None:
    heard: Queue[ResourceUpdated] = Queue()
    with Toolbox({"lib": library.make()}) as toolbox:
        assert bare(toolbox.list_resources()[0]) == README
        assert toolbox.read_resource("lib://books/Emma").text == "The text of Emma."
        assert len(toolbox.get_prompt("show").messages) == 5
        assert toolbox.complete("title", "E", template=BOOK).values == ("Emma",)
        toolbox.subscribe("lib://readme", heard.put)
        toolbox.call("lib_touch", {"uri": "lib://readme"})
        assert heard.get(timeout=LONG).uri == "lib://readme"


async def test_a_connected_client_is_asked_on_its_own_loop() -> None:
    async with Client(library.make()) as client, Toolbox({"lib": client}) as toolbox:
        assert (await toolbox.aread_resource("lib://readme")).text == "Three books."
        assert len(await toolbox.alist_prompts()) == 2
        with pytest.raises(SyncCallInEventLoopError):
            toolbox.read_resource("lib://readme")
        with pytest.raises(RequestError, match="the program's own client"):
            await toolbox.asubscribe("lib://readme", print)


def test_a_toolbox_from_another_process_opens_when_it_is_read(protocol: Protocol) -> None:
    copy = pickle.loads(pickle.dumps(Toolbox({"lib": library_server(protocol)}, connect_timeout=61.0)))
    assert copy.read_resource("lib://readme").text == "Three books."
    copy.close()


async def test_a_toolbox_from_another_process_opens_when_it_is_awaited(protocol: Protocol) -> None:
    copy = pickle.loads(pickle.dumps(Toolbox({"lib": library_server(protocol)}, connect_timeout=62.0)))
    assert (await copy.aread_resource("lib://readme")).text == "Three books."
    await copy.aclose()


@pytest.mark.parametrize("protocol", ["legacy", "2026-07-28"])
def test_a_subscription_over_http_outlives_the_server(
    protocol: Protocol, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server of the handshake years is missed only when the next request finds its session gone."""
    monkeypatch.setattr(_subscriptions, "_AGAIN_S", 0.05)
    heard: Queue[ResourceUpdated] = Queue()
    with Web(lambda _: library.make().streamable_http_app()) as web:
        with Toolbox({"lib": HttpServer(url=web.mcp, protocol=protocol)}) as toolbox:
            toolbox.subscribe("lib://readme", heard.put)
            web.stop()
            web.start()
            if protocol == "legacy":
                assert toolbox.read_resource("lib://readme").text == "Three books."
            assert heard.get(timeout=LONG).after_gap
            toolbox.call("lib_touch", {"uri": "lib://readme"})
            assert not heard.get(timeout=LONG).after_gap
