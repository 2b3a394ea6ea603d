"""What servers offer besides tools: finds the server, asks it, reads the answer.

In: names and addresses as the user gave them, on the background loop. Out: frozen values of `resources`
and `prompts`, or an error of the family. Where no server is named, the one that has the thing is found by
what the servers list. Nothing here is kept: every call asks anew.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any, TypeVar

from mcp.shared.uri_template import InvalidUriTemplate, UriTemplate
from mcp_types import (
    CompleteRequest,
    GetPromptRequest,
    GetPromptRequestParams,
)
from mcp_types import CompleteRequestParams as CompleteParams

from mcp_adapters._connection import Connection
from mcp_adapters._engine import Engine, combined
from mcp_adapters._handlers import Messenger
from mcp_adapters._reading import Lister, list_prompts, list_resources, list_templates, read_resource
from mcp_adapters._subscriptions import OnUpdate
from mcp_adapters.errors import (
    ConfigError,
    McpAdaptersError,
    PromptNotFoundError,
    RequestError,
    ResourceNotFoundError,
)
from mcp_adapters.filtering import closest_names
from mcp_adapters.prompts import (
    Completion,
    Prompt,
    PromptResult,
    read_completion,
    read_prompt,
)
from mcp_adapters.resources import (
    Resource,
    ResourceContents,
    ResourceTemplate,
)

__all__ = ("Offers",)

logger = logging.getLogger(__name__)

T = TypeVar("T")


class Offers:
    """What the servers of one toolbox offer besides tools.

    Args:
        opened: Gives the engine of the open toolbox.

    """

    def __init__(self, opened: Callable[[], Awaitable[Engine]]) -> None:
        self._opened = opened

    # -- listings -----------------------------------------------------------------------------

    async def list_resources(self, server: str | None) -> list[Resource]:
        """The resources of one server, or of all."""
        return await self._listed(list_resources, server)

    async def list_resource_templates(self, server: str | None) -> list[ResourceTemplate]:
        """The resource templates of one server, or of all."""
        return await self._listed(list_templates, server)

    async def list_prompts(self, server: str | None) -> list[Prompt]:
        """The prompts of one server, or of all."""
        return await self._listed(list_prompts, server)

    async def _listed(self, lister: Lister[T], server: str | None) -> list[T]:
        engine = await self._opened()
        connections = engine.chosen(server)
        answers = await asyncio.gather(*(_attempt(lister, connection) for connection in connections))
        failures = [answer for answer in answers if isinstance(answer, McpAdaptersError)]
        if failures and (server is not None or engine.fails_on_servers):
            raise combined(failures)
        for failure in failures:
            logger.warning("a server is left out of a listing: %s", failure)
        return [value for answer in answers if isinstance(answer, tuple) for value in answer]

    # -- requests -----------------------------------------------------------------------------

    async def read_resource(
        self, resource: Resource | str, server: str | None, timeout: float | None
    ) -> ResourceContents:
        """Read a resource."""
        uri, server = _address(resource, server)
        connection = await self._owner_of(uri, server)
        return await read_resource(connection, uri, timeout)

    async def subscribe(
        self, resource: Resource | str, listener: OnUpdate, server: str | None, messenger: Messenger | None
    ) -> None:
        """Have a function hear of a resource's changes; None as messenger is the toolbox's own."""
        uri, server = _address(resource, server)
        connection = await self._owner_of(uri, server)
        await connection.subscribe(uri, listener, messenger or (await self._opened()).messenger)

    async def unsubscribe(
        self, resource: Resource | str, listener: OnUpdate | None, server: str | None
    ) -> None:
        """End what `subscribe` began, at the server or at all."""
        uri, server = _address(resource, server)
        connections = (await self._opened()).chosen(server)
        await asyncio.gather(*(connection.unsubscribe(uri, listener) for connection in connections))

    async def get_prompt(
        self,
        prompt: Prompt | str,
        arguments: Mapping[str, str] | None,
        server: str | None,
        timeout: float | None,
    ) -> PromptResult:
        """Get a prompt with its arguments filled in."""
        name, server = (prompt, server) if isinstance(prompt, str) else (prompt.name, prompt.server)
        connection = await self._owner_of_prompt(name, server)
        params = GetPromptRequestParams(name=name, arguments=_texts(arguments))
        try:
            raw = await connection.read(GetPromptRequest(params=params), timeout=timeout)
        except RequestError as error:
            if error.code is None:
                raise
            raise await _told_apart(error, connection, name, arguments or {}) from error
        return read_prompt(connection.key, name, raw)

    async def complete(
        self,
        about: Mapping[str, str],
        argument: Mapping[str, str],
        context: Mapping[str, str] | None,
        server: str | None,
    ) -> Completion:
        """What a server proposes for an argument of a prompt or a variable of a template.

        Args:
            about: The reference, as the protocol writes it.
            argument: Its name and its value so far.
            context: Values that are chosen already; None for none.
            server: Whose; None means the one that has the prompt or the template.

        """
        if about["type"] == "ref/prompt":
            connection = await self._owner_of_prompt(about["name"], server)
        else:
            connection = await self._owner_of(about["uri"], server)
        if (await connection.capabilities()).completions is None:
            return Completion()
        params: dict[str, Any] = {"ref": about, "argument": argument}
        if context is not None:
            params["context"] = {"arguments": _texts(context)}
        request = CompleteRequest(params=CompleteParams.model_validate(params))
        return read_completion(await connection.read(request))

    # -- whose is it --------------------------------------------------------------------------

    async def _owner_of(self, uri: str, server: str | None) -> Connection:
        """The server that has a resource or a template; the only one that has any is not asked first.

        Raises:
            ResourceNotFoundError: None lists it, or several do.

        """
        candidates = await self._candidates(server, lambda capabilities: capabilities.resources)
        if len(candidates) == 1:
            return candidates[0]
        listed = await asyncio.gather(*(_lists(connection, uri) for connection in candidates))
        best = max(listed, default=0)
        owners = [one for one, rank in zip(candidates, listed, strict=True) if best and rank == best]
        if len(owners) == 1:
            return owners[0]
        raise ResourceNotFoundError(_whose("resource", uri, owners), uri=uri, phase="read")

    async def _owner_of_prompt(self, name: str, server: str | None) -> Connection:
        """The server that has a prompt; as `_owner_of`.

        Raises:
            PromptNotFoundError: None lists it, or several do.

        """
        candidates = await self._candidates(server, lambda capabilities: capabilities.prompts)
        if len(candidates) == 1:
            return candidates[0]
        listed = await asyncio.gather(*(_prompt_names(connection) for connection in candidates))
        known = dict(zip(candidates, listed, strict=True))
        owners = [connection for connection, names in known.items() if name in names]
        if len(owners) == 1:
            return owners[0]
        names = {one for names in known.values() for one in names}
        message = _whose("prompt", name, owners) + ("" if owners else _closest(name, names))
        raise PromptNotFoundError(
            message, prompt=name, phase="read", closest=() if owners else closest_names(name, names)
        )

    async def _candidates(
        self, server: str | None, capability: Callable[[Any], object | None]
    ) -> list[Connection]:
        """The named server, whatever it says that it has; else those that say that they have it."""
        engine = await self._opened()
        chosen = engine.chosen(server)
        if server is not None or len(chosen) == 1:
            return chosen
        found = await asyncio.gather(*(_attempt(Connection.capabilities, one) for one in chosen))
        failures = [one for one in found if isinstance(one, McpAdaptersError)]
        if failures and engine.fails_on_servers:
            raise combined(failures)
        return [
            connection
            for connection, has in zip(chosen, found, strict=True)
            if not isinstance(has, McpAdaptersError) and capability(has) is not None
        ]


async def _attempt(ask: Callable[[Connection], Awaitable[T]], connection: Connection) -> T | McpAdaptersError:
    try:
        return await ask(connection)
    except McpAdaptersError as error:
        return error


async def _prompt_names(connection: Connection) -> list[str]:
    """What a server calls its prompts; nothing where they cannot be listed."""
    return [prompt.name for prompt in await _or_nothing(list_prompts, connection)]


async def _or_nothing(lister: Lister[T], connection: Connection) -> tuple[T, ...]:
    """What a server lists, for a search over several: one that fails must not hide the others."""
    try:
        return await lister(connection)
    except McpAdaptersError as error:
        logger.warning("a server is left out of a search: %s", error)
        return ()


async def _lists(connection: Connection, uri: str) -> int:
    """How surely a server has a resource: 2 when it lists it, 1 when a template of its fits, else 0."""
    if any(resource.uri == uri for resource in await _or_nothing(list_resources, connection)):
        return 2
    templates = await _or_nothing(list_templates, connection)
    if any(template.uri_template == uri for template in templates):
        return 2
    return int(any(_fits(template.uri_template, uri) for template in templates))


def _fits(template: str, uri: str) -> bool:
    try:
        return UriTemplate.parse(template).match(uri) is not None
    except InvalidUriTemplate:
        return False


async def _told_apart(
    error: RequestError, connection: Connection, name: str, given: Collection[str]
) -> RequestError:
    """A prompt that is missing, or arguments that are: servers answer both with the same codes."""
    try:
        known = {prompt.name: prompt for prompt in await list_prompts(connection)}
    except McpAdaptersError:
        return error
    facts = {
        "server": connection.key,
        "prompt": name,
        "method": error.method,
        "code": error.code,
    }
    if name not in known:
        message = f"server {connection.key!r} has no prompt {name!r}{_closest(name, known)}"
        return PromptNotFoundError(message, closest=closest_names(name, known), **facts)
    required = [one.name for one in known[name].arguments if one.required and one.name not in given]
    if not required:
        return error
    return RequestError(f"{error}; it requires the arguments {', '.join(map(repr, required))} too", **facts)


def _address(resource: Resource | str, server: str | None) -> tuple[str, str | None]:
    return (resource, server) if isinstance(resource, str) else (resource.uri, resource.server)


def _texts(arguments: Mapping[str, str] | None) -> dict[str, str] | None:
    """Arguments as the protocol takes them.

    Raises:
        ConfigError: A value is no text.

    """
    for name, value in (arguments or {}).items():
        if not isinstance(value, str):
            raise ConfigError(
                f"the argument {name!r} is a {type(value).__name__}; arguments of prompts are text"
            )
    return None if arguments is None else dict(arguments)


def _whose(kind: str, name: str, owners: Sequence[Connection]) -> str:
    if owners:
        keys = ", ".join(repr(owner.key) for owner in owners)
        return f"several servers have the {kind} {name!r}: {keys}; say which with 'server'"
    return f"no server lists the {kind} {name!r}; say which server to ask with 'server'"


def _closest(name: str, names: Collection[str]) -> str:
    alike = ", ".join(map(repr, closest_names(name, names)))
    return f"; did you mean {alike}?" if alike else ""
