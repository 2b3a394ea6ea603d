"""What every server model shares: field types, hidden secrets, errors that hold no value.

In: pydantic's findings and the secrets of a model. Out: `ConfigError`, and text without secrets.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeAlias, TypedDict

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    SecretStr,
    StrictBool,
    ValidationError,
    field_validator,
    model_validator,
)

from mcp_adapters.errors import ConfigError
from mcp_adapters.filtering import parse_filter

from .keys import RENAMED, likely_key
from .masking import mask
from .problems import ConfigProblem, config_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = (
    "ProtocolChoice",
    "ReportingModel",
    "Seconds",
    "SecretText",
    "ServerModel",
    "ServerOptions",
    "Text",
    "without_nul",
)

ProtocolChoice: TypeAlias = Literal["auto", "legacy", "2026-07-28"]
"""How to begin: probe and fall back, only the initialize handshake, or only the protocol of that date."""


def _text(value: object) -> object:
    """Turn a whole number into its digits; leave everything else to validation."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _seconds(value: object) -> object:
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, (bool, str)):
        raise ValueError("must be a number of seconds")
    return value


def without_nul(value: str) -> str:
    """Refuse text that no process or header can be given."""
    if "\0" in value:
        raise ValueError("must not contain a NUL character")
    return value


Seconds: TypeAlias = Annotated[float, BeforeValidator(_seconds), Field(gt=0, allow_inf_nan=False)]
"""A number of seconds above 0, or a `timedelta`."""
Text: TypeAlias = Annotated[str, BeforeValidator(_text)]
SecretText: TypeAlias = Annotated[SecretStr, BeforeValidator(_text)]


class ServerOptions(TypedDict, total=False):
    """What constructors take for every server, for type checkers: wider than what the fields hold."""

    disabled: bool
    protocol: ProtocolChoice
    tools: Any
    timeout: float | timedelta | None
    connect_timeout: float | timedelta | None
    extra: Mapping[str, Any]
    secrets: Sequence[SecretStr]


class ReportingModel(BaseModel):
    """A frozen model whose mistakes are reported as `ConfigError`, without any value."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, arbitrary_types_allowed=True
    )

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


class ServerModel(ReportingModel):
    """What all servers have in common."""

    disabled: StrictBool = False
    """True keeps the entry but starts nothing; its variables are then left as they were written."""
    protocol: ProtocolChoice = "auto"
    """Which protocol to speak: "auto" finds out, "legacy" begins with the handshake of the years before
    2026-07-28."""
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

    @field_validator("tools")
    @classmethod
    def _tools_can_be_chosen(cls, tools: Any) -> Any:
        try:
            if tools is not None:
                parse_filter(tools)
        except ConfigError:
            usable = False
        else:
            usable = True
        if not usable:
            # Outside of the handler: the other error quotes the value.
            raise ValueError(
                'must be a list of names and patterns, {"allow": [...], "deny": [...]} or {"name": false}'
            )
        return tools

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
        # A filter object would be taken apart by dumping.
        shown = {**self.model_dump(exclude={"tools"}), "tools": self.tools}
        for name, info in type(self).model_fields.items():
            if info.repr and getattr(self, name) != info.get_default(call_default_factory=True):
                yield name, shown[name]

    def __str__(self) -> str:
        return repr(self)


def _problem(cls: type[BaseModel], detail: Any) -> ConfigProblem:
    field = ""
    for part in detail["loc"]:
        field += f"[{part}]" if isinstance(part, int) else f".{part}" if field else str(part)
    # People who write JSON know lists and objects.
    message = re.sub(r"valid (?:tuple|list)", "list", detail["msg"].removeprefix("Value error, "))
    message = re.sub(r"valid (?:mapping|dictionary)", "valid object", message)
    if detail["type"] == "extra_forbidden":
        guess = likely_key(field)
        message = (
            f"unknown option; did you mean {RENAMED.get(guess, guess)!r}?" if guess else "unknown option"
        )
    return ConfigProblem(
        message=f"{message[:1].lower()}{message[1:]}",
        source=cls.__name__,
        field=field.removesuffix(".[key]") or None,
    )
