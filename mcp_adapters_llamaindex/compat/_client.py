"""`BasicMCPClient`, over a connection that is kept.

In: a command or an address, and the options that llama-index-tools-mcp has. Out: the SDK's own results,
prompts as chat messages. What has no effect here is refused, with the way to do it instead.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeAlias
from urllib.parse import parse_qs, urlsplit

from llama_index.core.llms import ChatMessage

from mcp_adapters import (
    ConfigError,
    Handlers,
    HttpServer,
    LogMessage,
    OAuth,
    OnProgress,
    Progress,
    SamplingAnswer,
    SamplingRefusal,
    SamplingRequest,
    SseServer,
    StdioServer,
)
from mcp_adapters.official import (
    from_official_answer,
    to_official,
    to_official_contents,
    to_official_prompts,
    to_official_request,
    to_official_resources,
    to_official_templates,
)
from mcp_adapters_llamaindex._prompts import aprompt_messages
from mcp_adapters_llamaindex.compat._source import SERVER, Source

__all__ = ("BasicMCPClient",)

SamplingCallback: TypeAlias = Callable[..., Awaitable[Any]]
"""Called with None, for the SDK's context, and the SDK's parameters; gives the SDK's result or error."""
LogsCallback: TypeAlias = Callable[[list[str]], Awaitable[Any]]
"""Gets what the server logged during one call, a text for each message."""


class BasicMCPClient(Source):
    """One MCP server for LlamaIndex, with the interface of llama-index-tools-mcp.

    The server is started or connected to with the first request and stays; `aclose` ends it.

    Args:
        command_or_url: A program, or an http(s) address. An address whose path ends in `/sse`, or with
            `transport=sse` in its query, is that of the transport of 2024-11-05.
        args: Arguments of the program.
        env: Added to the minimal environment that the program gets.
        timeout: Seconds without a sign of life from the server during a request.
        sse_read_timeout: Seconds of silence on an open stream.
        auth: As `HttpServer.auth`, such as the SDK's `OAuthClientProvider`.
        sampling_callback: Answers for a model when the server wants the word of one.
        headers: Sent with every HTTP request.
        tool_call_logs_callback: Gets what the server logged during each call. Calls at the same time
            get each other's messages: servers do not say to which call one belongs.
        http_client: None; another one is refused.
        options: Further options of `Toolbox`, such as `interceptors`.

    Raises:
        ConfigError: There is an `http_client`, or a value is unusable.

    """

    def __init__(
        self,
        command_or_url: str,
        args: Sequence[str] | None = None,
        env: Mapping[str, str] | None = None,
        timeout: float = 30,
        sse_read_timeout: float = 300,
        auth: Any = None,
        sampling_callback: SamplingCallback | None = None,
        headers: Mapping[str, Any] | None = None,
        tool_call_logs_callback: LogsCallback | None = None,
        http_client: None = None,
        **options: Any,
    ) -> None:
        if http_client is not None:
            raise ConfigError(
                "'http_client' is not used: give 'headers' and 'auth', and set proxies in the environment"
            )
        self.command_or_url = command_or_url
        self.tool_call_logs_callback = tool_call_logs_callback
        self._hearing: list[list[str]] = []
        if urlsplit(command_or_url).scheme in ("http", "https"):
            server: Any = _at(command_or_url, headers=headers, auth=auth, read_timeout=sse_read_timeout)
        else:
            server = StdioServer(command=command_or_url, args=tuple(args or ()), env=dict(env or {}))
        handlers = Handlers(
            log=None if tool_call_logs_callback is None else self._heard,
            sampling=None if sampling_callback is None else _answering(sampling_callback),
        )
        options = {"log_level": None if tool_call_logs_callback is None else "debug", **options}
        super().__init__(server, handlers=handlers, call_timeout=timeout, **options)

    @classmethod
    def with_oauth(
        cls,
        command_or_url: str,
        client_name: str,
        redirect_uris: Sequence[str],
        redirect_handler: Callable[[str], Any],
        callback_handler: Any = None,
        *,
        token_storage: Any = None,
        **options: Any,
    ) -> BasicMCPClient:
        """Make a client that signs a person in.

        Args:
            command_or_url: The server's address.
            client_name: What the authorization server shows to the person.
            redirect_uris: One address of this machine's loopback interface, such as
                `http://127.0.0.1:3030/callback`. The person is sent back to it and received there.
            redirect_handler: Shows the address to sign in at to the person.
            callback_handler: Not called: the way back is received at the address. For another way back
                give the SDK's `OAuthClientProvider` as `auth` to the class itself.
            token_storage: As `OAuth.store`: where tokens are kept; None keeps them in memory.
            options: Further arguments of the class.

        Raises:
            ConfigError: There is no such address among `redirect_uris`, or a value is unusable.

        """
        form = OAuth(
            client_name=client_name,
            redirect_uri=str(redirect_uris[0]) if redirect_uris else None,
            open_browser=redirect_handler,
            **({} if token_storage is None else {"store": token_storage}),
        )
        return cls(command_or_url, auth=form, **options)

    async def call_tool(
        self,
        tool_name: str,
        arguments: Mapping[str, Any] | None = None,
        progress_callback: Callable[[float, float | None, str | None], Awaitable[None]] | None = None,
    ) -> Any:
        """Call a tool by the server's own name for it.

        Args:
            tool_name: The name.
            arguments: By name.
            progress_callback: Hears how far the call has come.

        Returns:
            The SDK's `CallToolResult`; `is_error` where the tool says that it failed.

        Raises:
            ToolNotFoundError: The server does not offer it.
            ToolError, ServerError: As `Tool.acall`.

        """
        tool = await self.tool(tool_name)
        heard: list[str] = []
        self._hearing.append(heard)
        try:
            result = await tool.acall(arguments, on_progress=_reporting(progress_callback))
        finally:
            self._hearing = [one for one in self._hearing if one is not heard]
        if self.tool_call_logs_callback is not None:
            await self.tool_call_logs_callback(heard)
        return to_official(result)

    async def list_resources(self) -> Any:
        """List the server's resources, all pages, as the SDK's `ListResourcesResult`."""
        toolbox = await self.toolbox.aopen()
        return to_official_resources(await toolbox.alist_resources())

    async def list_resource_templates(self) -> Any:
        """List the server's resource templates, as the SDK's `ListResourceTemplatesResult`."""
        toolbox = await self.toolbox.aopen()
        return to_official_templates(await toolbox.alist_resource_templates())

    async def read_resource(self, resource_uri: Any) -> Any:
        """Read a resource, as the SDK's `ReadResourceResult`; errors as `Toolbox.read_resource`."""
        toolbox = await self.toolbox.aopen()
        return to_official_contents(await toolbox.aread_resource(str(resource_uri), server=SERVER))

    async def list_prompts(self) -> Any:
        """List the server's prompts, all pages, as the SDK's `ListPromptsResult`."""
        toolbox = await self.toolbox.aopen()
        return to_official_prompts(await toolbox.alist_prompts())

    async def get_prompt(
        self, prompt_name: str, arguments: Mapping[str, Any] | None = None
    ) -> list[ChatMessage]:
        """Get a prompt as chat messages; values become text; errors as `Toolbox.get_prompt`."""
        toolbox = await self.toolbox.aopen()
        texts = {name: str(value) for name, value in (arguments or {}).items()}
        return await aprompt_messages(toolbox, prompt_name, texts, server=SERVER)

    def _heard(self, message: LogMessage) -> None:
        text = message.data if isinstance(message.data, str) else str(message.data)
        for one in self._hearing:
            one.append(f"{message.level}: {text}")


def _at(url: str, *, headers: Mapping[str, Any] | None, **options: Any) -> HttpServer | SseServer:
    parts = urlsplit(url)
    path, transport = parts.path.rstrip("/"), parse_qs(parts.query).get("transport", [""])[0]
    old = transport == "sse" or path.endswith("/sse") or "/sse/" in path
    kind = SseServer if old else HttpServer
    return kind(url=url, headers={name: str(value) for name, value in (headers or {}).items()}, **options)


def _reporting(callback: Callable[..., Awaitable[None]] | None) -> OnProgress | None:
    if callback is None:
        return None

    async def tell(news: Progress) -> None:
        await callback(news.progress, news.total, news.message)

    return tell


def _answering(callback: SamplingCallback) -> Callable[[SamplingRequest], Awaitable[Any]]:
    """A handler that asks a callback of the SDK's form; one with a single parameter gets no context."""
    alone = len(inspect.signature(callback).parameters) == 1

    async def answer(request: SamplingRequest) -> SamplingAnswer | SamplingRefusal:
        params = to_official_request(request)
        said = await (callback(params) if alone else callback(None, params))
        if hasattr(said, "code"):  # the SDK's `ErrorData`
            return SamplingRefusal(reason=str(said.message))
        return from_official_answer(said)

    return answer
