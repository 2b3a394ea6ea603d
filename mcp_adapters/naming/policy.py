"""How the user wants names to be made.

In: options, from Python or from configuration data. Out: a frozen policy whose fields have been
checked, and the key of a server that has none. Nothing here makes a name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, Self, TypeAlias, get_args

from mcp_adapters.errors import ConfigError
from mcp_adapters.providers import PORTABLE_RULE, FirstCharacter, NameRule, profile

__all__ = ("NamePolicy", "server_key")

Prefix: TypeAlias = Literal["always", "never", "on_clash"]
OnDuplicate: TypeAlias = Literal["rename", "error", "keep_first"]
Hashed: TypeAlias = Literal["when_needed", "every_change"]

_LENGTHS = range(16, 257)
_LONGEST_SEPARATOR = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class NamePolicy:
    """How exposed names are made; the default is legal for every provider.

    Raises:
        ConfigError: A field has a value that it cannot have.

    """

    prefix: Prefix = "always"
    """When the server's key is put in front: "always" (a name does not change when another server
    comes), "never", or "on_clash", for the tools of a clash only."""
    separator: str = "_"
    """Between key and tool; 1 to 8 legal characters."""
    on_duplicate: OnDuplicate = "rename"
    """When several tools want one name: hash all but the one that needed no change, refuse them
    all, or leave out all but the first in listing order."""
    max_length: int = PORTABLE_RULE.max_length
    """Longest name, in characters, 16 to 256."""
    reserved: tuple[str, ...] = ()
    """Names that no tool may get; a tool that wants one gets a hash, whatever `on_duplicate` is."""
    hashed: Hashed = "when_needed"
    """Which changed names carry a hash: those that clash or are cut, or every one. With the latter
    and `prefix="always"`, a changed name does not depend on the other tools."""
    punctuation: str = PORTABLE_RULE.punctuation
    """ASCII punctuation that names may hold; always with "_"."""
    first: FirstCharacter = PORTABLE_RULE.first
    """What a name may start with."""

    def __post_init__(self) -> None:
        _check_choice("prefix", self.prefix, get_args(Prefix))
        _check_choice("on_duplicate", self.on_duplicate, get_args(OnDuplicate))
        _check_choice("hashed", self.hashed, get_args(Hashed))
        _check_choice("first", self.first, get_args(FirstCharacter))
        _check("max_length", self.max_length, _is_length, "a number from 16 to 256")
        _check("punctuation", self.punctuation, _is_punctuation, 'ASCII punctuation with "_" in it')
        _check("separator", self.separator, self._separates, "1 to 8 legal characters")
        _check("reserved", self.reserved, _are_words, "a tuple of strings")

    def _separates(self, value: object) -> bool:
        rule = NameRule(punctuation=self.punctuation, first="any", max_length=_LONGEST_SEPARATOR)
        return isinstance(value, str) and rule.allows(value)

    @property
    def rule(self) -> NameRule:
        """The rule that all names of this policy follow."""
        return NameRule(punctuation=self.punctuation, first=self.first, max_length=self.max_length)

    @classmethod
    def for_provider(cls, provider: str, **options: Any) -> Self:
        """Make a policy with the character rule of one provider, which may allow more.

        Args:
            provider: A name or alias of a profile in `mcp_adapters.providers`. One that checks no
                names gets the portable rule.
            options: Further fields; they win over the provider's.

        Raises:
            ConfigError: Unknown provider, or a field has a value that it cannot have.

        """
        rule = profile(provider).name_rule or PORTABLE_RULE
        return cls.from_config(asdict(rule) | options)

    def to_config(self) -> dict[str, Any]:
        """Return all fields as JSON data."""
        return asdict(self) | {"reserved": list(self.reserved)}

    @classmethod
    def from_config(cls, value: object) -> Self:
        """Read a policy from configuration data.

        Args:
            value: A mapping of field names to values; what is absent has its default.

        Raises:
            ConfigError: No mapping, an unknown field, or a value that a field cannot have.

        """
        if not isinstance(value, Mapping):
            raise ConfigError(f"names must be a mapping of options, not {value!r:.200}")
        known = [entry.name for entry in fields(cls)]
        for word in value:
            if word not in known:
                raise ConfigError(f"names: there is no option {word!r}; there are {', '.join(known)}")
        reserved = value.get("reserved", ())
        return cls(**dict(value) | {"reserved": tuple(reserved) if isinstance(reserved, list) else reserved})


def _check_choice(what: str, value: object, choices: tuple[str, ...]) -> None:
    _check(what, value, choices.__contains__, f"one of {', '.join(map(repr, choices))}")


def _check(what: str, value: object, holds: Callable[[object], bool], wanted: str) -> None:
    if not holds(value):
        raise ConfigError(f"names: {what} must be {wanted}, not {value!r:.200}")


def _is_length(value: object) -> bool:
    return isinstance(value, int) and value in _LENGTHS


def _is_punctuation(value: object) -> bool:
    return (
        isinstance(value, str)
        and "_" in value
        and all("!" <= mark <= "~" and not mark.isalnum() for mark in value)
    )


def _are_words(value: object) -> bool:
    return isinstance(value, tuple) and all(isinstance(word, str) for word in value)


def server_key(reported: str | None) -> str:
    """Return the key of a server that has none in the configuration.

    Args:
        reported: The name that the server reports of itself; None when it reports none.

    Returns:
        That name without white space around it, or "mcp" when nothing is left.

    """
    return (reported or "").strip() or "mcp"
