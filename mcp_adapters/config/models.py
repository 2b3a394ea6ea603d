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
from collections.abc import Mapping, Sequence
from datetime import timedelta
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, TypeAlias
from urllib.parse import parse_qsl, urlsplit

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    SecretStr,
    StrictBool,
    ValidationError,
    ValidationInfo,
    field_serializer,
    field_validator,
    model_validator,
)

from .masking import mask, mask_arguments, mask_url, words
from .problems import ConfigProblem, config_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ("HttpServer", "ProtocolChoice", "Server", "SseServer", "StdioServer")

ProtocolChoice: TypeAlias = Literal["auto", "legacy", "2026-07-28"]
"""How to begin: probe and fall back, only the initialize handshake, or only the protocol of that date."""

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


def _text(value: object) -> object:
    """Turn a whole number into its digits; leave everything else to validation."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _seconds(value: object) -> object:
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, (bool, str)):
        raise ValueError("must be a number of seconds")
    return value


def _without_nul(value: str) -> str:
    if "\0" in value:
        raise ValueError("must not contain a NUL character")
    return value


Seconds: TypeAlias = Annotated[float, BeforeValidator(_seconds), Field(gt=0, allow_inf_nan=False)]
Text: TypeAlias = Annotated[str, BeforeValidator(_text)]
SecretText: TypeAlias = Annotated[SecretStr, BeforeValidator(_text)]


class _Server(BaseModel):
    """What all servers have in common."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, arbitrary_types_allowed=True
    )

    disabled: StrictBool = False
    """True keeps the entry but starts nothing; its variables are then left as they were written."""
    protocol: ProtocolChoice = "auto"
    tools: Any = None
    """Which tools to offer, as the configuration says it; None when it says nothing."""
    timeout: Seconds | None = None
    """Longest wait of a call without a sign of life, in seconds; None when not said."""
    connect_timeout: Seconds | None = None
    """Longest wait for the connection, in seconds; None when not said."""
    extra: Mapping[str, Any] = Field(default_factory=dict, repr=False, exclude=True)
    """Keys of the entry that this package does not use, with their values."""
    secrets: tuple[SecretStr, ...] = Field(default=(), repr=False, exclude=True)
    """What variables put into fields that are not secret by themselves."""

    @model_validator(mode="wrap")
    @classmethod
    def _translated(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        problems: tuple[ConfigProblem, ...]
        try:
            return handler(data)
        except ValidationError as error:
            problems = tuple(_problem(cls, detail) for detail in error.errors(include_input=False))
        # Outside of the handler: a chained ValidationError would carry the values along.
        raise config_error(problems)

    def redact(self, text: str) -> str:
        """Replace every secret of this server that occurs in `text` by `***`.

        For text from elsewhere, such as standard error. Values under four characters stay: they
        would garble everything.
        """
        return mask(text, (value for value in self._secret_values() if len(value) >= 4))

    def _secret_values(self) -> Iterator[str]:
        for secret in self.secrets:
            yield secret.get_secret_value()

    def _masked(self, text: str) -> str:
        return mask(text, (secret.get_secret_value() for secret in self.secrets))

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        shown = self.model_dump()
        for name, info in type(self).model_fields.items():
            if info.repr and getattr(self, name) != info.get_default(call_default_factory=True):
                yield name, shown[name]

    def __str__(self) -> str:
        return repr(self)


def _problem(cls: type[BaseModel], detail: Any) -> ConfigProblem:
    field = ""
    for part in detail["loc"]:
        field += f"[{part}]" if isinstance(part, int) else f".{part}" if field else str(part)
    message = detail["msg"].removeprefix("Value error, ")
    if detail["type"] == "extra_forbidden":
        closest = get_close_matches(field, cls.model_fields, n=1)
        message = "unknown option" + "".join(f"; did you mean {name!r}?" for name in closest)
    return ConfigProblem(
        message=f"{message[:1].lower()}{message[1:]}",
        source=cls.__name__,
        field=field.removesuffix(".[key]") or None,
    )


class StdioServer(_Server):
    """A server that is started as a process and spoken to over its standard input and output.

    Args:
        command: The program, or the program and its arguments as a list. A string is never split:
            a program name with a space in it is refused, a path with spaces is fine.
        args: Further arguments; whole numbers become text.
        env: Added to the minimal environment that the process gets.
        cwd: Directory to start in; None means that of this process.

    Raises:
        ConfigError: A value is missing or unusable; `problems` lists all.

    """

    transport: ClassVar[Literal["stdio"]] = "stdio"

    command: Annotated[str, Field(min_length=1)]
    args: tuple[Text, ...] = ()
    env: Mapping[str, SecretText] = Field(default_factory=dict)
    cwd: str | None = None

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            command: str | Sequence[str],
            args: Sequence[str | int] = (),
            env: Mapping[str, str | SecretStr] = ...,
            cwd: str | os.PathLike[str] | None = None,
            disabled: bool = False,
            protocol: ProtocolChoice = "auto",
            tools: Any = None,
            timeout: float | timedelta | None = None,
            connect_timeout: float | timedelta | None = None,
            extra: Mapping[str, Any] = ...,
            secrets: Sequence[SecretStr] = (),
        ) -> None: ...

    @model_validator(mode="before")
    @classmethod
    def _argv_split(cls, data: Any) -> Any:
        """Take a command given as a list apart into the program and its first arguments."""
        if not isinstance(data, Mapping):
            return data
        command, args = data.get("command"), data.get("args", ())
        if isinstance(command, (list, tuple)) and command and isinstance(args, (list, tuple)):
            return {**data, "command": command[0], "args": [*command[1:], *args]}
        return data

    @field_validator("command")
    @classmethod
    def _command_is_a_program(cls, command: str) -> str:
        first, *rest = command.split(maxsplit=1) or [""]
        if not first:
            raise ValueError("must not be blank")
        if rest and not re.search(r"[/\\]", first) and not first.startswith(("${", "{")):
            raise ValueError(
                "contains spaces, and a command is never split; write the program and its arguments "
                'as a list (["npx", "-y", "package"]) or put the arguments into \'args\''
            )
        return _without_nul(command)

    @field_validator("args")
    @classmethod
    def _arguments_can_be_passed(cls, args: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(map(_without_nul, args))

    @field_validator("env")
    @classmethod
    def _environment_can_be_set(cls, env: Mapping[str, SecretStr]) -> dict[str, SecretStr]:
        for name, value in env.items():
            if not name or "=" in name or "\0" in name:
                raise ValueError(f"{name!r} cannot be the name of an environment variable")
            _without_nul(value.get_secret_value())
        return dict(env)

    @field_validator("cwd", mode="before")
    @classmethod
    def _cwd_as_text(cls, cwd: object) -> object:
        return os.fspath(cwd) if isinstance(cwd, os.PathLike) else cwd

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


class _UrlServer(_Server):
    url: str
    headers: Mapping[str, SecretText] = Field(default_factory=dict)
    auth: Any = Field(default=None, repr=False, exclude=True)
    """An authentication object for the HTTP client, or a text, which is held as a secret."""
    read_timeout: Seconds | None = None
    """Longest silence on an open stream, in seconds; None when not said."""

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            url: str,
            headers: Mapping[str, str | SecretStr] = ...,
            auth: Any = None,
            read_timeout: float | timedelta | None = None,
            disabled: bool = False,
            protocol: ProtocolChoice = "auto",
            tools: Any = None,
            timeout: float | timedelta | None = None,
            connect_timeout: float | timedelta | None = None,
            extra: Mapping[str, Any] = ...,
            secrets: Sequence[SecretStr] = (),
        ) -> None: ...

    @field_validator("url")
    @classmethod
    def _url_is_http(cls, url: str, info: ValidationInfo) -> str:
        if info.data.get("disabled") and "${" in url:
            return url
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"}:
            raise ValueError("must begin with http:// or https://")
        if not parts.hostname or re.search(r"[\s\x00-\x1f\x7f]", url):
            raise ValueError("must be a complete address with a host and without spaces")
        if parts.port == 0:
            raise ValueError("must not have port 0")
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

    @field_validator("auth")
    @classmethod
    def _auth_text_is_secret(cls, auth: Any) -> Any:
        return SecretStr(auth) if isinstance(auth, str) else auth

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
        if isinstance(self.auth, SecretStr):
            yield self.auth.get_secret_value()
        parts = urlsplit(self.url)
        yield from filter(None, (parts.username, parts.password))
        yield from (value for _, value in parse_qsl(parts.query))


class HttpServer(_UrlServer):
    """A server that is reached over streamable HTTP.

    Args:
        url: Its http or https address.
        headers: Sent with every request.

    Raises:
        ConfigError: A value is missing or unusable; `problems` lists all.

    """

    transport: ClassVar[Literal["http"]] = "http"


class SseServer(_UrlServer):
    """A server that is reached over HTTP with server-sent events, the transport of 2024-11-05.

    Args:
        url: Its http or https address, usually ending in `/sse`.
        headers: Sent with every request.

    Raises:
        ConfigError: A value is missing or unusable; `problems` lists all.

    """

    transport: ClassVar[Literal["sse"]] = "sse"


Server: TypeAlias = StdioServer | HttpServer | SseServer
