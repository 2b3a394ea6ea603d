"""One login at one server: its tokens, how they are kept, and how new ones are got.

In: the settings of an OAuth login, a place to keep tokens, and the challenges of the server. Out: an
access token. The flows are the SDK's; it is given nothing to send but their own requests, so that no
call waits for another. However many calls need a token, one flow gets it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import TypeAlias

import anyio
import httpx2
from mcp.client.auth import OAuthClientProvider, OAuthFlowError
from pydantic import ValidationError

from mcp_adapters._faults import Fault, FaultError
from mcp_adapters._record import Record, Storage
from mcp_adapters._tls import plain_client
from mcp_adapters._tokens import TokenStore

__all__ = ("Drive", "Login", "SignIn")

logger = logging.getLogger(__name__)

Drive: TypeAlias = Callable[[OAuthClientProvider, Storage], Awaitable[None]]
"""Runs a flow to its end and keeps what it brought."""
SignIn: TypeAlias = Callable[[Record, Drive], Awaitable[None]]
"""Enters whatever a sign-in needs, and has its flow driven."""


class Login:
    """The login to one server, shared by all its calls and connections.

    Args:
        name: Under which the tokens are kept.
        url: The server's address, without user and query.
        store: Where they are kept.
        refresher: Makes the provider that renews tokens.
        sign_in: The flow that gets the first ones.
        scopes: What to ask for; empty means what the server asks for.
        advice: What to do when it fails: the end of a sentence.
        pause: Seconds for which a failed sign-in stands, so that calls in a row do not ask a person again
            and again.

    """

    def __init__(
        self,
        name: str,
        url: str,
        *,
        store: TokenStore,
        refresher: Callable[[Storage], OAuthClientProvider],
        sign_in: SignIn,
        scopes: tuple[str, ...],
        advice: str,
        pause: float = 0.0,
    ) -> None:
        self._name, self._url, self._store = name, httpx2.URL(url), store
        self._refresher, self._sign_in = refresher, sign_in
        self._scopes, self._advice, self._pause = scopes, advice, pause
        self._failure: tuple[float, FaultError] | None = None
        self._record: Record | None = None
        self._flow: asyncio.Task[None] | None = None
        self._unproven: str | None = None
        """A token that was just given out; a server that refuses it will refuse the next one too."""

    async def token(self) -> str | None:
        """A token that is good as far as is known; None without one."""
        record = await self._known()
        if record.access_token is None or not record.is_over(time.time()):
            return record.access_token
        return await self.refreshed(record.access_token, version=None)

    async def refreshed(self, used: str | None, *, version: str | None) -> str | None:
        """Another token than `used`, without asking anybody; None when there is none.

        Args:
            used: The token that is over or was refused.
            version: The protocol version of the request.

        Raises:
            FaultError: The authorization server cannot be asked.

        """
        return await self._once(used, lambda: self._refresh(used, version))

    async def signed_in(self, used: str | None, challenge: httpx2.Response) -> str | None:
        """Another token than `used`, by a new sign-in.

        Raises:
            FaultError: It failed, or has failed a moment ago.

        """
        if self._failure is not None and time.monotonic() < self._failure[0] + self._pause:
            raise FaultError(self._failure[1].fault)
        try:
            return await self._once(used, lambda: self._authorize(challenge))
        except FaultError as error:
            self._failure = time.monotonic(), error
            raise

    def refused(self, token: str) -> None:
        """The server does not take the token.

        Raises:
            FaultError: It has never taken it since it was given out; another one would fare no better.

        """
        if token == self._unproven:
            raise self._failed("the server refuses the very token that its authorization server gave for it")

    def proven(self, token: str | None) -> None:
        """The server took the token."""
        if token == self._unproven:
            self._unproven = None

    def stop(self) -> None:
        """End a flow that is under way."""
        if self._flow is not None:
            self._flow.cancel()

    async def _known(self) -> Record:
        return self._record or self._adopted(await self._load())

    def _adopted(self, loaded: Record) -> Record:
        """Take what the store had, unless another call was faster."""
        self._record = self._record or loaded
        return self._record

    async def _once(self, used: str | None, work: Callable[[], Awaitable[None]]) -> str | None:
        """Run one flow for all who wait, unless there is another token already."""
        current = (await self._known()).access_token
        if current != used:
            return current
        if self._flow is None or self._flow.done():
            self._flow = asyncio.ensure_future(self._named(work))
            self._flow.add_done_callback(lambda flow: flow.cancelled() or flow.exception())
        await asyncio.shield(self._flow)
        return (await self._known()).access_token

    async def _named(self, work: Callable[[], Awaitable[None]]) -> None:
        """Run a flow; its failures get one form."""
        try:
            await work()
        except FaultError:
            raise
        except OAuthFlowError as error:
            raise self._failed(str(error), error) from error
        except httpx2.HTTPError as error:
            raise self._failed(f"the authorization server cannot be reached ({error})", error) from error
        except TimeoutError as error:
            raise self._failed("nobody signed in in time", error) from error
        except (OSError, ValidationError, ValueError) as error:
            raise self._failed(f"{type(error).__name__}: {_first_line(error)}", error) from error

    def _failed(self, reason: str, cause: BaseException | None = None) -> FaultError:
        detail = f"got no credentials to show: {' '.join(reason.split())[:300]}; {self._advice}"
        return FaultError(Fault(kind="auth", detail=detail, cause=cause))

    # -- flows --------------------------------------------------------------------------------

    async def _refresh(self, used: str | None, version: str | None) -> None:
        stored = await self._load()
        if stored.access_token not in (None, used) and not stored.is_over(time.time()):
            self._record = stored  # another process was faster
            return
        record = await self._known()
        if record.tokens is None or record.tokens.refresh_token is None or record.metadata is None:
            self._forget_token(record)
            return
        storage = Storage(record.model_copy(), refresh=True)
        await self._drive(self._refresher(storage), storage, version=version, challenge=None)
        if storage.record.access_token == used:
            self._forget_token(record)
        else:
            await self._keep(storage.record)

    def _forget_token(self, record: Record) -> None:
        self._record = record.model_copy(update={"tokens": None, "expires_at": None})

    async def _authorize(self, challenge: httpx2.Response) -> None:
        async def drive(provider: OAuthClientProvider, storage: Storage) -> None:
            version = challenge.request.headers.get("mcp-protocol-version")
            await self._drive(provider, storage, version=version, challenge=self._asking(challenge))
            await self._keep(storage.record)
            self._unproven = storage.record.access_token

        await self._sign_in((await self._known()).model_copy(), drive)
        self._failure = None

    def _asking(self, challenge: httpx2.Response) -> httpx2.Response:
        """The challenge, with the scopes of the settings: the SDK takes those that a challenge names."""
        if not self._scopes or challenge.status_code != 401:
            return challenge
        told = challenge.headers.get("www-authenticate", "Bearer")
        scheme, _, rest = told.partition(" ")
        named = f'{scheme} scope="{" ".join(self._scopes)}"' + (f", {rest}" if rest else "")
        return httpx2.Response(401, headers={"www-authenticate": named}, request=challenge.request)

    async def _drive(
        self,
        provider: OAuthClientProvider,
        storage: Storage,
        *,
        version: str | None,
        challenge: httpx2.Response | None,
    ) -> None:
        """Run the SDK's flow around a message that is never sent: its answer is the challenge.

        Without a challenge, the flow is over as soon as it would send the message.
        """
        storage.context = provider.context
        headers = {} if version is None else {"mcp-protocol-version": version}
        message = httpx2.Request("POST", self._url, headers=headers)
        flow = provider.async_auth_flow(message)
        async with plain_client() as client:
            try:
                outgoing = await anext(flow)
                while True:
                    if outgoing is not message:
                        response = await self._sent(client, outgoing)
                    elif challenge is None:
                        return
                    else:
                        response, challenge = challenge, None
                    outgoing = await flow.asend(response)
            except StopAsyncIteration:
                return
            finally:
                await flow.aclose()

    async def _sent(self, client: httpx2.AsyncClient, request: httpx2.Request) -> httpx2.Response:
        self.check_address(str(request.url))
        response = await client.send(request)
        if response.status_code >= 500 and request.method == "POST":
            # The SDK would take a busy server for a refusal, and ask a person to sign in again.
            raise OAuthFlowError(f"the authorization server answered HTTP {response.status_code}")
        return response

    def check_address(self, address: str) -> None:
        """Refuse an address that secrets must not be sent to: plain http that leaves this machine.

        Raises:
            OAuthFlowError: It is one.

        Source: MCP 2025-11-25, basic/authorization, "Communication Security".

        """
        url = httpx2.URL(address)
        here = url.host in ("127.0.0.1", "::1", "localhost")
        own = (url.scheme, url.host, url.port) == (self._url.scheme, self._url.host, self._url.port)
        if url.scheme != "https" and not (url.scheme == "http" and (here or own)):
            raise OAuthFlowError(f"the login leads to {url.scheme}://{url.host}, which is not https")

    # -- keeping ------------------------------------------------------------------------------

    async def _load(self) -> Record:
        text = await anyio.to_thread.run_sync(self._store.load, self._name)
        try:
            return Record() if text is None else Record.model_validate_json(text)
        except ValidationError:
            logger.warning("the kept login %r cannot be read; a new one is needed", self._name)
            return Record()

    async def _keep(self, record: Record) -> None:
        self._record = record
        text = record.model_dump_json(exclude_none=True)
        await anyio.to_thread.run_sync(self._store.save, self._name, text)


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0]
