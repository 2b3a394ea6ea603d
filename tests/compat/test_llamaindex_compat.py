"""What programs written for llama-index-tools-mcp rely on, with one import line changed.

The behaviours are those of its public tests; servers are real processes and a real HTTP server. Where the outcome
differs on purpose, the name of the test says so, and docs/migration-llamaindex.md has the reason.
"""

from __future__ import annotations

import asyncio
import gc
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.tools import FunctionTool
from llama_index.core.tools.tool_spec.base import BaseToolSpec
from mcp import Client
from mcp.types import (
    CallToolResult,
    CreateMessageRequestParams,
    CreateMessageResult,
    ErrorData,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    ReadResourceResult,
    TextContent,
)

from mcp_adapters import ConfigError, HttpServer, OAuth, ServerStartError, SseServer, ToolNotFoundError
from mcp_adapters_llamaindex.compat import (
    BasicMCPClient,
    McpToolSpec,
    aget_tools_from_mcp_url,
    get_tools_from_mcp_url,
)

from ..asking.test_models_and_roots import QUESTION, asking
from ..conftest import Wire, children, tool
from ..http_server import http_server
from ..test_llamaindex import scripted
from ..web import ERAS, Web, tools_server
from . import li_server

SCRIPT = str(Path(li_server.__file__))


def fresh(**options: Any) -> BasicMCPClient:
    return BasicMCPClient(sys.executable, args=[SCRIPT], **{"timeout": 60, **options})


@pytest.fixture
async def client() -> AsyncIterator[BasicMCPClient]:
    async with fresh() as one:
        yield one


async def made(client: Any, **options: Any) -> dict[str, FunctionTool]:
    return {str(one.metadata.name): one for one in await McpToolSpec(client, **options).to_tool_list_async()}


# -- the client -----------------------------------------------------------------------------------


async def test_listings_and_answers_are_the_sdks_own(client: BasicMCPClient) -> None:
    tools, resources = await client.list_tools(), await client.list_resources()
    templates, prompts = await client.list_resource_templates(), await client.list_prompts()
    read, called = await client.read_resource("config://app"), await client.call_tool("add", {"a": 5, "b": 7})

    assert isinstance(tools, ListToolsResult)
    assert [one.name for one in tools.tools][:2] == ["add", "process"]
    assert isinstance(resources, ListResourcesResult)
    assert [str(one.uri) for one in resources.resources] == ["config://app"]
    assert isinstance(templates, ListResourceTemplatesResult)
    assert [one.name for one in templates.resource_templates] == ["user_profile"]
    assert isinstance(prompts, ListPromptsResult)
    assert [one.name for one in prompts.prompts] == ["analyze"]
    assert isinstance(read, ReadResourceResult)
    assert (read.contents[0].mime_type, read.contents[0].text) == ("text/plain", "level = 3")
    assert isinstance(called, CallToolResult)
    assert (called.content[0].text, called.structured_content) == ("12.0", {"result": 12.0})


async def test_differs_calls_share_one_process(client: BasicMCPClient) -> None:
    numbers = {(await client.call_tool("process")).structured_content["result"] for _ in range(3)}

    assert len(numbers) == 1
    assert numbers != {os.getpid()}


async def test_what_a_tool_changes_is_there_when_it_is_read(client: BasicMCPClient) -> None:
    before = await client.read_resource("users://123/profile")
    await client.call_tool("rename_user", {"user_id": "123", "name": "Bea"})
    after = await client.read_resource("users://123/profile")

    assert (before.contents[0].text, after.contents[0].text) == ("Ann", "Bea")


async def test_prompts_are_chat_messages(client: BasicMCPClient) -> None:
    messages = await client.get_prompt("analyze", {"data": 5})

    assert [(str(one.role.value), one.content) for one in messages] == [
        ("user", "Look at 5."),
        ("assistant", "I do."),
    ]


async def test_progress_is_told(client: BasicMCPClient) -> None:
    heard: list[Any] = []

    async def told(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message))

    result = await client.call_tool("work", {"steps": 3}, progress_callback=told)

    assert result.content[0].text == "worked"
    assert heard == [(1, 3, "step 1"), (2, 3, "step 2"), (3, 3, "step 3")]


async def test_images_come_back(client: BasicMCPClient) -> None:
    result = await client.call_tool("paint")

    assert (result.content[0].mime_type, len(result.content[0].data) > 50) == ("image/png", True)


async def test_a_failed_tool_is_a_result_that_says_so(client: BasicMCPClient) -> None:
    result = await client.call_tool("fail")

    assert result.is_error
    assert "it did not work" in result.content[0].text


async def test_differs_a_tool_that_is_not_offered_is_an_error_before_anything_is_sent(wire: Wire) -> None:
    server = wire.server()
    async with BasicMCPClient(server.command, args=list(server.args)) as client:
        with pytest.raises(ToolNotFoundError, match="'nowhere'"):
            await client.call_tool("nowhere")

    assert wire.count("tools/call") == 0


async def test_differs_the_logs_of_a_call_are_the_servers(wire: Wire) -> None:
    gone: list[list[str]] = []

    async def logs(lines: list[str]) -> None:
        gone.append(lines)

    server = wire.server(tools=[tool("log"), tool("echo")])
    async with BasicMCPClient(server.command, args=list(server.args), tool_call_logs_callback=logs) as client:
        await client.call_tool("log")
        await client.call_tool("echo")

    assert gone == [["warning: {'n': 1}"], []]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("parameters", [1, 2])
@pytest.mark.parametrize("refuses", [False, True])
async def test_a_sampling_callback_answers_for_a_model(
    wire: Wire, era: Any, parameters: int, refuses: bool
) -> None:
    asked: list[CreateMessageRequestParams] = []

    def say(params: CreateMessageRequestParams) -> Any:
        asked.append(params)
        if refuses:
            return ErrorData(code=-1, message="not today")
        content = TextContent(type="text", text="blue")
        return CreateMessageResult(role="assistant", content=content, model="m")

    async def alone(params: CreateMessageRequestParams) -> Any:
        return say(params)

    async def both(context: None, params: CreateMessageRequestParams) -> Any:
        return say(params)

    [server] = asking(wire, era, "sampling/createMessage", QUESTION).values()
    callback = alone if parameters == 1 else both
    async with BasicMCPClient(server.command, list(server.args), sampling_callback=callback) as client:
        result = await client.call_tool((await client.list_tools()).tools[0].name)

    assert [type(one) for one in asked] == [CreateMessageRequestParams]
    assert ("not today" if refuses else "blue") in str(result)


# -- addresses ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("http://127.0.0.1:1/mcp", HttpServer),
        ("https://example.invalid/api?transport=http", HttpServer),
        ("http://127.0.0.1:1/sse", SseServer),
        ("http://127.0.0.1:1/sse/", SseServer),
        ("http://127.0.0.1:1/v1/sse/messages", SseServer),
        ("http://127.0.0.1:1/mcp?transport=sse", SseServer),
        ("http://127.0.0.1:1/assess", HttpServer),
    ],
)
def test_an_address_tells_the_transport(url: str, kind: type[Any]) -> None:
    [server] = BasicMCPClient(url).toolbox._servers.values()

    assert type(server) is kind


async def test_headers_go_with_every_request() -> None:
    with http_server([tool("echo")]) as seen:
        async with BasicMCPClient(seen.url, headers={"X-Team": 7}) as client:
            await client.call_tool("echo")

    assert set(seen.headers("tools/call", "x-team")) == {"7"}


async def test_the_transport_of_2024_works() -> None:
    with Web(lambda _: tools_server().sse_app()) as web:
        async with BasicMCPClient(f"{web.url}/sse") as client:
            result = await client.call_tool("echo", {"text": "x"})

    assert result.content[0].text == "x"


def test_signing_in_needs_an_address_of_this_machine() -> None:
    def sign_in(uri: str) -> Any:
        shown = {"redirect_handler": lambda url: None, "callback_handler": lambda: ("code", None)}
        url = "https://example.invalid/mcp"
        client = BasicMCPClient.with_oauth(url, client_name="Me", redirect_uris=[uri], **shown)
        [server] = client.toolbox._servers.values()
        return server.auth

    auth = sign_in("http://localhost:3000/callback")
    assert isinstance(auth, OAuth)
    assert (auth.client_name, auth.redirect_uri) == ("Me", "http://localhost:3000/callback")
    with pytest.raises(ConfigError, match="redirect_uri"):
        sign_in("https://example.invalid/callback")


async def test_a_client_of_ones_own_is_refused_with_the_way_out() -> None:
    async with httpx2.AsyncClient() as http:
        with pytest.raises(ConfigError, match="'headers' and 'auth'"):
            BasicMCPClient("http://127.0.0.1:1/mcp", http_client=http)  # type: ignore[arg-type]


# -- the tools ------------------------------------------------------------------------------------


def test_a_tool_spec_is_one() -> None:
    assert issubclass(McpToolSpec, BaseToolSpec)


async def test_all_some_or_no_tools_are_offered(client: BasicMCPClient, caplog: Any) -> None:
    every = await made(client)
    some = await made(client, allowed_tools=["add", "nowhere"])
    none = await made(client, allowed_tools=[])
    fetched = await McpToolSpec(client, allowed_tools=["fail"]).fetch_tools()

    assert list(every) == [one.name for one in (await client.list_tools()).tools]
    assert (list(some), none, [one.name for one in fetched]) == (["add"], {}, ["fail"])
    assert "'nowhere'" in caplog.text


async def test_a_tool_works_in_both_forms_also_while_a_loop_runs(client: BasicMCPClient) -> None:
    [add] = McpToolSpec(client, allowed_tools=["add"]).to_tool_list()

    outputs = [add.call(a=1, b=2), await add.acall(a=1, b=2)]

    assert [output.content for output in outputs] == ["3.0", "3.0"]
    assert outputs[0].raw_output.structured == 3.0


async def test_nested_models_reach_the_server(client: BasicMCPClient) -> None:
    greet = (await made(client))["greet"]

    output = await greet.async_fn(name={"name": "Ann"})
    schema = greet.metadata.fn_schema.model_json_schema()

    assert output.content == "Hello Ann, nobody"
    assert schema["required"] == ["name"]
    assert schema["properties"]["name"]["properties"]["name"]["type"] == "string"


async def test_resources_are_tools_when_asked_for(client: BasicMCPClient) -> None:
    tools = await made(client, include_resources=True)
    alone = await made(client, include_resources=True, allowed_tools=["app_config"])
    config, profile = tools["app_config"], tools["user_profile"]

    assert set(tools) - set(await made(client)) == {"app_config", "user_profile"}
    assert list(alone) == ["app_config"]
    assert config.metadata.description == "The configuration."
    assert [(await config.acall()).content, config.call().content] == ["level = 3"] * 2
    assert (await profile.acall(uri="users://123/profile")).content == "Ann"
    assert "users://{user_id}/profile" in profile.metadata.description
    assert [one.name for one in await McpToolSpec(client).fetch_resources()] == ["app_config", "user_profile"]


@pytest.mark.parametrize("sync", [False, True])
@pytest.mark.parametrize(
    ("everywhere", "single", "hidden", "said"),
    [
        (None, None, set(), "Hello Ann, nobody"),
        ({}, {}, set(), "Hello Ann, nobody"),
        ({"user_id": "7"}, None, {"user_id"}, "Hello Ann, 7"),
        ({"user_id": "7", "nowhere": 1}, None, {"user_id"}, "Hello Ann, 7"),
        ({"user_id": "7"}, {"greet": {"user_id": "8"}}, {"user_id"}, "Hello Ann, 8"),
        ({"user_id": "7"}, {"greet": {"user_id": None}}, set(), "Hello Ann, nobody"),
        ({"user_id": "7"}, {"add": {"user_id": None}}, {"user_id"}, "Hello Ann, 7"),
        (None, {"greet": {"user_id": "8"}}, {"user_id"}, "Hello Ann, 8"),
    ],
)
async def test_fixed_arguments_are_sent_and_not_shown(
    client: BasicMCPClient, everywhere: Any, single: Any, hidden: set[str], said: str, sync: bool
) -> None:
    tools = await made(client, global_partial_params=everywhere, partial_params_by_tool=single)
    greet = tools["greet"]
    call = {"name": {"name": "Ann"}}

    output = greet.call(**call) if sync else await greet.acall(**call)

    assert output.content == said
    assert {"name", "user_id"} - set(greet.metadata.get_parameters_dict()["properties"]) == hidden
    assert {"name", "user_id"} - set(greet.metadata.fn_schema.model_json_schema()["properties"]) == hidden
    assert "user_id" not in (await made(client))["add"].partial_params


async def test_what_a_call_says_comes_before_a_fixed_argument(client: BasicMCPClient) -> None:
    add = (await made(client, partial_params_by_tool={"add": {"a": 1}}))["add"]

    assert add.metadata.get_parameters_dict()["required"] == ["b"]
    assert [(await add.acall(b=1)).content, (await add.acall(a=5, b=1)).content] == ["2.0", "6.0"]
    assert (await add.acall(3)).content == "4.0"


@pytest.mark.parametrize("sync", [False, True])
async def test_tools_of_an_address_keep_their_server_until_they_are_dropped(sync: bool) -> None:
    with http_server([tool("echo"), tool("fail")]) as seen:
        if sync:
            tools = get_tools_from_mcp_url(seen.url, allowed_tools=["echo"])
        else:
            tools = await aget_tools_from_mcp_url(seen.url, allowed_tools=["echo"])
        outputs = [await tools[0].acall(n=n) for n in range(2)]

    assert [output.content for output in outputs] == ['{"n": 0}', '{"n": 1}']
    assert len(seen.headers("initialize", "accept")) == 1


async def test_a_server_stops_when_neither_client_nor_tool_is_held() -> None:
    others = children()
    client = fresh()
    tools = await aget_tools_from_mcp_url("", client=client, allowed_tools=["process"])
    running = children() - others
    del client
    gc.collect()
    output = await tools[0].acall()
    tools.clear()
    gc.collect()
    async with asyncio.timeout(60):
        while children() & running:
            await asyncio.sleep(0.02)

    assert int(output.content) in running


async def test_a_client_of_the_sdk_is_used_and_left_alone() -> None:
    async with Client(li_server.make()) as sdk:
        tools = await made(sdk, allowed_tools=["add"])
        output = await tools["add"].acall(a=1, b=2)
        again = await sdk.call_tool("add", {"a": 2, "b": 2})

    assert (output.content, again.structured_content) == ("3.0", {"result": 4.0})


async def test_differs_a_failure_is_an_output_that_says_so(client: BasicMCPClient) -> None:
    tools = await made(client)

    failed, wrong = await tools["fail"].acall(), await tools["add"].acall(a="many", b=1)

    assert (failed.is_error, wrong.is_error) == (True, True)
    assert "it did not work" in failed.content
    assert "/a" in wrong.content


async def test_a_server_that_cannot_be_started_is_an_error_each_time() -> None:
    spec = McpToolSpec(BasicMCPClient("no-such-program-at-all"))
    for _ in range(2):
        with pytest.raises(ServerStartError, match="no-such-program-at-all"):
            await spec.to_tool_list_async()
    with pytest.raises(ServerStartError):
        spec.to_tool_list()


async def test_an_agent_uses_them(client: BasicMCPClient) -> None:
    llm = scripted([("add", {"b": 2})])
    tools: Any = list((await made(client, global_partial_params={"a": 1})).values())

    answer = await FunctionAgent(tools=tools, llm=llm, streaming=False).run(user_msg="go")

    assert [call.tool_output.content for call in answer.tool_calls] == ["3.0"]
