"""How a server is reached: a command, a streamable HTTP address, or an SSE address.

In: plain Python values, whatever dialect they came from. Out: frozen, picklable models that are
valid as far as can be known without starting anything. Nothing here reads files or the environment.

Secrets: the values of `env`, `headers` and `auth` are held as `SecretStr`, and whatever a variable
put into another field is masked. None of it is in `repr`, `str`, `model_dump` or an error; only
`argv`, `environment`, `url` and `plain_headers` hand it out, to whoever starts the server.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias, Unpack
from urllib.parse import urlsplit

from pydantic import (
    Field,
    SecretStr,
    SkipValidation,
    ValidationInfo,
    field_serializer,
    field_validator,
    model_validator,
)

from .auth import AuthModel, read_auth, reserved_headers
from .base import Seconds, SecretText, ServerModel, ServerOptions, Text, without_nul
from .masking import mask_arguments, mask_url, url_secrets, words
from .sandbox import Install, Sandbox, read_sandbox

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import timedelta

__all__ = ("HttpServer", "Server", "SseServer", "StdioServer")

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


class StdioServer(ServerModel):
    """A server that is started as a process and spoken to over its standard input and output.

    Args:
        command: The program, or the program and its arguments as a list. A string is never split:
            a program name with a space in it is refused, a path with spaces is fine.
        args: Further arguments; whole numbers become text.
        env: Added to the minimal environment that the process gets.
        cwd: Directory to start in; None means that of this process, or `/tmp` in a sandbox.
        sandbox: Where the process runs: a `Bubblewrap` or `Container`, the same as an object with a
            `type`, or "bubblewrap". None: it may do whatever this process may.
        install: What has to be done before the first start, inside of the sandbox: an `Install`, or the
            same as an object. Done once in a process for equal descriptions, unless it fails.
        options: What all servers have; see the attributes.

    Raises:
        ConfigError: A value is missing or unusable; `problems` lists all.

    """

    transport: ClassVar[Literal["stdio"]] = "stdio"

    command: str
    args: tuple[Text, ...] = ()
    env: Mapping[str, SecretText] = Field(default_factory=dict)
    cwd: str | None = None
    sandbox: Annotated[Sandbox | None, SkipValidation] = None
    install: Install | None = None

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            command: str | Sequence[str],
            args: Sequence[str | int] = (),
            env: Mapping[str, str | SecretStr] = ...,
            cwd: str | os.PathLike[str] | None = None,
            sandbox: Sandbox | Mapping[str, Any] | str | None = None,
            install: Install | Mapping[str, Any] | None = None,
            **options: Unpack[ServerOptions],
        ) -> None: ...

    @model_validator(mode="before")
    @classmethod
    def _argv_split(cls, data: Any) -> Any:
        """Take a command given as a list apart into the program and its first arguments."""
        if not isinstance(data, Mapping):
            return data
        command, args = data.get("command"), data.get("args", ())
        if not isinstance(command, list | tuple):
            return data
        first, *rest = command or [""]
        return {**data, "command": first, "args": [*rest, *args] if isinstance(args, list | tuple) else args}

    @field_validator("command")
    @classmethod
    def _command_is_a_program(cls, command: str) -> str:
        first, *rest = command.split(maxsplit=1) or [""]
        if not first:
            raise ValueError("must not be blank")
        if rest and not re.search(r"[/\\]", first) and not first.startswith(("${", "{env:")):
            raise ValueError(
                "contains spaces, and a command is never split; write the program and its arguments "
                'as a list (["npx", "-y", "package"]) or put the arguments into \'args\''
            )
        return without_nul(command)

    @field_validator("args")
    @classmethod
    def _arguments_can_be_passed(cls, args: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(map(without_nul, args))

    @field_validator("env")
    @classmethod
    def _environment_can_be_set(cls, env: Mapping[str, SecretStr]) -> dict[str, SecretStr]:
        for name, value in env.items():
            if not name or "=" in name or "\0" in name:
                raise ValueError(f"{name!r} cannot be the name of an environment variable")
            without_nul(value.get_secret_value())
        return dict(env)

    @field_validator("cwd", mode="before")
    @classmethod
    def _cwd_as_text(cls, cwd: object) -> object:
        return os.fspath(cwd) if isinstance(cwd, os.PathLike) else cwd

    @field_validator("sandbox", mode="before")
    @classmethod
    def _sandbox_is_known(cls, value: Any) -> Sandbox | None:
        return read_sandbox(value)

    @field_serializer("command", "cwd")
    def _shown_text(self, value: str | None) -> str | None:
        return None if value is None else self._masked(value)

    @field_serializer("args")
    def _shown_args(self, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(map(self._masked, mask_arguments(value)))

    def argv(self) -> list[str]:
        """Give the program and its arguments, in plain text."""
        return [self.command, *self.args]

    def environment(self) -> dict[str, str]:
        """Give what the configuration adds to the process's environment, in plain text."""
        return {name: value.get_secret_value() for name, value in self.env.items()}

    def _secret_values(self) -> Iterator[str]:
        yield from super()._secret_values()
        for value in self.environment().values():
            yield from words(value)
        if self.install is not None:
            yield from self.install.secret_values()


def _is_complete(url: str) -> bool:
    try:
        parts = urlsplit(url)
        usable = bool(parts.hostname) and parts.port != 0
    except ValueError:
        # The message of this error quotes the address, which can hold a password.
        return False
    return usable and not re.search(r"[\s\x00-\x1f\x7f]", url)


class _UrlServer(ServerModel):
    url: str
    headers: Mapping[str, SecretText] = Field(default_factory=dict)
    auth: Any = Field(default=None, repr=False, exclude=True)
    """How the client shows who it is: a form of `config.auth`, or an authentication object of the HTTP
    client. Texts and objects of a configuration are read by `read_auth`."""
    read_timeout: Seconds | None = None
    """Longest silence on an open stream, in seconds; None when not said."""
    headers_provider: Callable[[], Any] | None = Field(default=None, repr=False, exclude=True)
    """Gives further headers for each request: called, sync or async, in the context of the call."""

    @field_validator("url")
    @classmethod
    def _url_is_http(cls, url: str, info: ValidationInfo) -> str:
        if info.data.get("disabled") and re.search(r"\$\{|\{env:", url):
            return url
        if not re.match("https?://", url, re.IGNORECASE):
            raise ValueError("must begin with http:// or https://")
        if not _is_complete(url):
            raise ValueError("must be a complete address: a host, a valid port if any, no spaces")
        return url

    @field_validator("headers")
    @classmethod
    def _headers_can_be_sent(cls, headers: Mapping[str, SecretStr]) -> dict[str, SecretStr]:
        for name, value in headers.items():
            if not _HEADER_NAME.fullmatch(name):
                raise ValueError(f"{name!r} cannot be the name of an HTTP header")
            if re.search(r"[\r\n\0]", value.get_secret_value()):
                raise ValueError(f"the value of {name!r} must be a single line")
        return dict(headers)

    @field_validator("auth", mode="before")
    @classmethod
    def _auth_is_of_a_known_form(cls, auth: Any, info: ValidationInfo) -> Any:
        form = read_auth(auth)
        for name in info.data.get("headers", ()):
            if isinstance(form, AuthModel) and name.lower() in reserved_headers(form):
                raise ValueError(f"sends the header {name!r}, which 'headers' has too; keep one of them")
        return form

    @field_serializer("url")
    def _shown_url(self, _: str) -> str:
        return self.safe_url

    @property
    def safe_url(self) -> str:
        """The address for people and errors: user, query values and expanded variables are masked."""
        return mask_url(self._masked(self.url))

    def plain_headers(self) -> dict[str, str]:
        """Give the configured headers in plain text."""
        return {name: value.get_secret_value() for name, value in self.headers.items()}

    def _secret_values(self) -> Iterator[str]:
        yield from super()._secret_values()
        for value in self.plain_headers().values():
            yield from words(value)
        if isinstance(self.auth, AuthModel):
            yield from self.auth.secret_values()
        yield from url_secrets(self.url)


class HttpServer(_UrlServer):
    """A server that is reached over streamable HTTP.

    Args:
        url: Its http or https address.
        headers: Sent with every request.
        auth: A `BearerAuth`, `ApiKeyAuth`, `BasicAuth`, `OAuth` or `ClientCredentials`, the same as an
            object with a `type`, "oauth", another text (a bearer token), or an `httpx2.Auth`.
        read_timeout: Seconds of silence on an open stream, or a `timedelta`; None sets no limit.
        headers_provider: Called without arguments for each request, in the context of the call that
            causes it; gives further headers. A synchronous one runs in a worker thread.
        options: What all servers have; see the attributes.

    Raises:
        ConfigError: A value is missing or unusable; `problems` lists all.

    """

    transport: ClassVar[Literal["http"]] = "http"

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            url: str,
            headers: Mapping[str, str | SecretStr] = ...,
            auth: Any = None,
            read_timeout: float | timedelta | None = None,
            headers_provider: Callable[[], Any] | None = None,
            **options: Unpack[ServerOptions],
        ) -> None: ...


class SseServer(_UrlServer):
    """A server that is reached over HTTP with server-sent events, the transport of 2024-11-05.

    Args:
        url: Its http or https address, usually ending in `/sse`.
        headers: Sent with every request.
        auth: A `BearerAuth`, `ApiKeyAuth`, `BasicAuth`, `OAuth` or `ClientCredentials`, the same as an
            object with a `type`, "oauth", another text (a bearer token), or an `httpx2.Auth`.
        read_timeout: Seconds of silence on an open stream, or a `timedelta`; None sets no limit.
        headers_provider: Called without arguments for each request, in the context of the call that
            causes it; gives further headers. A synchronous one runs in a worker thread.
        options: What all servers have; see the attributes.

    Raises:
        ConfigError: A value is missing or unusable; `problems` lists all.

    """

    transport: ClassVar[Literal["sse"]] = "sse"

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            url: str,
            headers: Mapping[str, str | SecretStr] = ...,
            auth: Any = None,
            read_timeout: float | timedelta | None = None,
            headers_provider: Callable[[], Any] | None = None,
            **options: Unpack[ServerOptions],
        ) -> None: ...


Server: TypeAlias = StdioServer | HttpServer | SseServer
"""What `load_servers` gives for each server that is described in words."""
