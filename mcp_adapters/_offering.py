"""The faces of a toolbox for all that servers offer besides tools: resources, prompts, completions.

In: what a user asks for, on any thread or event loop. Out: frozen values. Each method exists in two forms
that differ in how they wait; what they do is in `_offers`, on the background loop.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp_adapters._engine import Engine
from mcp_adapters._handlers import Messenger, running_loop
from mcp_adapters._offers import Offers
from mcp_adapters._portal import portal
from mcp_adapters._subscriptions import OnUpdate
from mcp_adapters.errors import ConfigError
from mcp_adapters.prompts import Completion, Prompt, PromptResult
from mcp_adapters.resources import Resource, ResourceContents, ResourceTemplate

__all__ = ("Offering",)


class Offering:
    """The part of a toolbox that is not about tools.

    Wherever a method takes `server`, it is a server's key; None means all servers for a listing, and for
    everything else the one server that has the thing: with several servers their listings are asked.
    """

    _engine: Engine

    def __init__(self) -> None:
        self._offers = Offers(self._opened)

    async def _opened(self) -> Engine:
        """The engine of the open toolbox, on the background loop.

        Raises:
            ToolboxClosedError: The toolbox is not open.

        """
        raise NotImplementedError

    def _refuse_blocking(self, server: str | None) -> None:
        """Refuse to wait on a thread that one of the connections needs itself."""
        for key, connection in self._engine.connections.items():
            if server in (None, key):
                connection.refuse_blocking()

    # -- resources ----------------------------------------------------------------------------

    def list_resources(self, *, server: str | None = None) -> list[Resource]:
        """The resources that servers list, in the order of the servers and of their listings.

        Returns:
            All pages; empty where a server has no resources.

        Raises:
            DiscoveryError, ConnectError, ConnectionLostError: A server fails. With `server=None` and
                `on_server_failure="skip"` it is left out, with a warning, instead.
            ToolboxLoadError: Several servers fail.
            ConfigError: There is no such server.
            ToolboxClosedError: The toolbox is not open.

        """
        self._refuse_blocking(server)
        return portal().run(self._offers.list_resources, server)

    async def alist_resources(self, *, server: str | None = None) -> list[Resource]:
        """The resources that servers list; as `list_resources`."""
        return await portal().arun(self._offers.list_resources, server)

    def list_resource_templates(self, *, server: str | None = None) -> list[ResourceTemplate]:
        """The templates of addresses that servers list; as `list_resources`."""
        self._refuse_blocking(server)
        return portal().run(self._offers.list_resource_templates, server)

    async def alist_resource_templates(self, *, server: str | None = None) -> list[ResourceTemplate]:
        """The templates of addresses that servers list; as `list_resources`."""
        return await portal().arun(self._offers.list_resource_templates, server)

    def read_resource(
        self, resource: Resource | str, *, server: str | None = None, timeout: float | None = None
    ) -> ResourceContents:
        """Read a resource. It is asked for once more when its connection is lost on the way.

        Args:
            resource: Its address, or what `list_resources` gave.
            server: Whose; a `Resource` says it itself.
            timeout: Seconds without a sign of life; None means the server's or the toolbox's setting.

        Raises:
            ResourceNotFoundError: There is no such resource, or several servers have it.
            RequestTimeoutError: No answer in time.
            RequestError: The server refuses.
            ConnectionLostError, ConnectError: The server was lost and could not be asked again.
            ProtocolError: The answer is not of the protocol.
            ConfigError: There is no such server.
            ToolboxClosedError: The toolbox is not open.

        """
        self._refuse_blocking(server)
        return portal().run(self._offers.read_resource, resource, server, timeout)

    async def aread_resource(
        self, resource: Resource | str, *, server: str | None = None, timeout: float | None = None
    ) -> ResourceContents:
        """Read a resource; as `read_resource`."""
        return await portal().arun(self._offers.read_resource, resource, server, timeout)

    def subscribe(self, resource: Resource | str, on_update: OnUpdate, *, server: str | None = None) -> None:
        """Have a function hear when a resource changes, until `unsubscribe` or the end of the toolbox.

        A lost connection is made anew at once, whatever `reconnect` says; the function is told then
        (`ResourceUpdated.after_gap`), since a change may have been missed.

        Args:
            resource: Its address, or what `list_resources` gave.
            on_update: Synchronous or asynchronous; runs where the handlers of the toolbox run.
            server: Whose.

        Raises:
            RequestError: The server does not tell of changes; errors else as `read_resource`.

        """
        self._refuse_blocking(server)
        portal().run(self._offers.subscribe, resource, on_update, server, None)

    async def asubscribe(
        self, resource: Resource | str, on_update: OnUpdate, *, server: str | None = None
    ) -> None:
        """Have a function hear when a resource changes; as `subscribe`. It runs on the calling loop."""
        messenger = Messenger(running_loop())
        await portal().arun(self._offers.subscribe, resource, on_update, server, messenger)

    def unsubscribe(
        self, resource: Resource | str, on_update: OnUpdate | None = None, *, server: str | None = None
    ) -> None:
        """End what `subscribe` began; harmless when there is nothing to end.

        Args:
            resource: As it was subscribed to.
            on_update: The function; None means all that hear of the resource.
            server: Whose; None means wherever it was subscribed to.

        """
        portal().run(self._offers.unsubscribe, resource, on_update, server)

    async def aunsubscribe(
        self, resource: Resource | str, on_update: OnUpdate | None = None, *, server: str | None = None
    ) -> None:
        """End what `asubscribe` began; as `unsubscribe`."""
        await portal().arun(self._offers.unsubscribe, resource, on_update, server)

    # -- prompts ------------------------------------------------------------------------------

    def list_prompts(self, *, server: str | None = None) -> list[Prompt]:
        """The prompts that servers list; as `list_resources`."""
        self._refuse_blocking(server)
        return portal().run(self._offers.list_prompts, server)

    async def alist_prompts(self, *, server: str | None = None) -> list[Prompt]:
        """The prompts that servers list; as `list_resources`."""
        return await portal().arun(self._offers.list_prompts, server)

    def get_prompt(
        self,
        prompt: Prompt | str,
        arguments: Mapping[str, str] | None = None,
        *,
        server: str | None = None,
        timeout: float | None = None,
    ) -> PromptResult:
        """Get the messages of a prompt. It is asked for once more when its connection is lost on the way.

        Args:
            prompt: Its name, or what `list_prompts` gave.
            arguments: Text by name; None means none.
            server: Whose; a `Prompt` says it itself.
            timeout: Seconds without a sign of life; None means the server's or the toolbox's setting.

        Raises:
            PromptNotFoundError: There is no such prompt, or several servers have it.
            RequestError: The server refuses, such as for a missing argument.
            ConfigError: An argument is no text, or there is no such server.
            RequestTimeoutError, ConnectionLostError, ConnectError, ProtocolError, ToolboxClosedError:
                As `read_resource`.

        """
        self._refuse_blocking(server)
        return portal().run(self._offers.get_prompt, prompt, arguments, server, timeout)

    async def aget_prompt(
        self,
        prompt: Prompt | str,
        arguments: Mapping[str, str] | None = None,
        *,
        server: str | None = None,
        timeout: float | None = None,
    ) -> PromptResult:
        """Get the messages of a prompt; as `get_prompt`."""
        return await portal().arun(self._offers.get_prompt, prompt, arguments, server, timeout)

    def complete(
        self,
        argument: str,
        value: str = "",
        *,
        prompt: Prompt | str | None = None,
        template: ResourceTemplate | str | None = None,
        context: Mapping[str, str] | None = None,
        server: str | None = None,
    ) -> Completion:
        """What a server proposes for an argument of a prompt, or a variable of a resource template.

        Args:
            argument: The name of the argument or variable.
            value: What is typed so far.
            prompt: Its name, or what `list_prompts` gave; exactly one of `prompt` and `template`.
            template: The template itself, or what `list_resource_templates` gave.
            context: Other arguments that have their value already.
            server: Whose.

        Returns:
            Nothing where the server completes nothing.

        Raises:
            ConfigError: Not exactly one of `prompt` and `template` is given.
            RequestError and others: As `get_prompt` and `read_resource`.

        """
        asked = _completion(argument, value, prompt, template, context, server)
        self._refuse_blocking(asked["server"])
        return portal().run(lambda: self._offers.complete(**asked))

    async def acomplete(
        self,
        argument: str,
        value: str = "",
        *,
        prompt: Prompt | str | None = None,
        template: ResourceTemplate | str | None = None,
        context: Mapping[str, str] | None = None,
        server: str | None = None,
    ) -> Completion:
        """What a server proposes for an argument of a prompt or a template; as `complete`."""
        asked = _completion(argument, value, prompt, template, context, server)
        return await portal().arun(lambda: self._offers.complete(**asked))


def _completion(
    argument: str,
    value: str,
    prompt: Prompt | str | None,
    template: ResourceTemplate | str | None,
    context: Mapping[str, str] | None,
    server: str | None,
) -> dict[str, Any]:
    if (prompt is None) == (template is None):
        raise ConfigError("a completion is for a prompt or for a template; give exactly one of the two")
    given: Prompt | ResourceTemplate | str | None = template if prompt is None else prompt
    if prompt is not None:
        name = prompt if isinstance(prompt, str) else prompt.name
        about = {"type": "ref/prompt", "name": name}
    else:
        uri = template.uri_template if isinstance(template, ResourceTemplate) else str(template)
        about = {"type": "ref/resource", "uri": uri}
    owner = given.server if isinstance(given, Prompt | ResourceTemplate) else server
    return {
        "about": about,
        "argument": {"name": argument, "value": value},
        "context": context,
        "server": owner,
    }
