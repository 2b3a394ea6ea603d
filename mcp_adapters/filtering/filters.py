"""Conditions on tools, and their form in configuration data.

In: patterns and predicates, or configuration data. Out: a `ToolFilter` that says for one tool why
it is left out. Nothing here knows which tools there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, TypeAlias, assert_never

from mcp_adapters.errors import ConfigError
from mcp_adapters.spec import ToolAnnotations

__all__ = ("Predicate", "ToolFilter", "matches", "parse_filter")

Predicate: TypeAlias = Callable[[str, ToolAnnotations], bool]
"""Gets the server's own name for a tool and its annotations; True keeps the tool."""

_COMBINED = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Patterns:
    """Patterns with a verdict each: the last that matches decides, else `otherwise`."""

    entries: tuple[tuple[str, bool], ...]
    otherwise: bool

    def refusal(self, name: str) -> str | None:
        for pattern, keep in reversed(self.entries):
            if matches(pattern, name):
                return None if keep else f"left out by the filter: {pattern!r} is denied"
        return None if self.otherwise else "left out by the filter: no allowed name or pattern matches"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Where:
    """A function of the user's."""

    predicate: Predicate

    def refusal(self, name: str, annotations: ToolAnnotations) -> str | None:
        if self.predicate(name, annotations):
            return None
        shown = getattr(self.predicate, "__name__", type(self.predicate).__name__)
        return f"left out by the filter: the predicate {shown!r} does not hold"


@dataclass(frozen=True, slots=True)
class ToolFilter:
    """A condition on tools; `ToolFilter()` keeps every tool.

    Made by `allow`, `deny` and `where`, and combined by `&`: a tool is kept when every part keeps
    it. A pattern is compared with the server's own name, and case counts:

    - without `*`, `?` and `[` it is a name and must be equal;
    - `*` stands for any text, `?` for one character, `[abc]` and `[!abc]` for one of, or none of;
    - a literal `*`, `?` or `[` in a pattern is written `[*]`, `[?]` or `[[]`.
    """

    rules: tuple[_Patterns | _Where, ...] = ()
    """The parts, all of which must hold. Made by the constructors below, not by hand."""

    @classmethod
    def allow(cls, *patterns: str) -> ToolFilter:
        """Keep the tools that match a pattern, and no others; without patterns, none at all."""
        return cls((_Patterns(entries=_entries(patterns, keep=True), otherwise=False),))

    @classmethod
    def deny(cls, *patterns: str) -> ToolFilter:
        """Keep the tools that match no pattern."""
        return cls((_Patterns(entries=_entries(patterns, keep=False), otherwise=True),))

    @classmethod
    def where(cls, predicate: Predicate) -> ToolFilter:
        """Keep the tools for which `predicate(name, annotations)` is true.

        Annotations are what the server says about itself: untrusted, and None where it says
        nothing. An exception of the predicate passes through.
        """
        return cls((_Where(predicate=predicate),))

    def __and__(self, other: ToolFilter) -> ToolFilter:
        return ToolFilter(self.rules + other.rules)

    def refusal(self, name: str, annotations: ToolAnnotations) -> str | None:
        """Say why a tool is left out, in one sentence; None when it is kept.

        Args:
            name: The server's own name for it.
            annotations: What the server says of its behaviour.

        """
        for rule in self.rules:
            reason = rule.refusal(name) if isinstance(rule, _Patterns) else rule.refusal(name, annotations)
            if reason is not None:
                return reason
        return None

    def exact_names(self) -> tuple[str, ...]:
        """Return the names that the filter mentions without a wildcard, in its order, each once."""
        patterns = (entry[0] for rule in self.rules if isinstance(rule, _Patterns) for entry in rule.entries)
        return tuple(dict.fromkeys(pattern for pattern in patterns if not _is_glob(pattern)))

    def to_config(self) -> list[Any] | dict[str, Any]:
        """Return the filter as JSON data that `parse_filter` reads back.

        Raises:
            ConfigError: A part is a predicate, which is code and has no form as data.

        """
        parts = [_rule_config(rule) for rule in self.rules]
        match parts:
            case []:
                return {}
            case [part]:
                return part
            case _:
                return {_COMBINED: parts}


def _entries(patterns: Iterable[Any], *, keep: bool) -> tuple[tuple[str, bool], ...]:
    return tuple((_pattern(pattern), keep) for pattern in patterns)


def _pattern(value: Any) -> str:
    if not isinstance(value, str):
        raise ConfigError(f"a filter takes tool names and patterns as strings; {value!r} is none")
    return value


def _is_glob(pattern: str) -> bool:
    return any(mark in pattern for mark in "*?[")


def matches(pattern: str, name: str) -> bool:
    """Whether a name is the pattern, or fits its wildcards; see `ToolFilter`."""
    return fnmatchcase(name, pattern) if _is_glob(pattern) else name == pattern


def _rule_config(rule: _Patterns | _Where) -> list[Any] | dict[str, Any]:
    match rule:
        case _Where():
            raise ConfigError(
                "a filter with a predicate cannot be written as data; use names and patterns, "
                "or give the filter in Python each time"
            )
        case _Patterns(entries=entries, otherwise=False):
            return [pattern for pattern, _ in entries]
        case _Patterns(entries=entries):
            denied = [pattern for pattern, keep in entries if not keep]
            return {"deny": denied} if len(denied) == len(entries) else dict(entries)
        case _:
            assert_never(rule)


def parse_filter(value: object) -> ToolFilter:
    """Read a filter from configuration data.

    Args:
        value: One of these forms:
            `["read_*", "search"]`: only these (as `ToolFilter.allow`);
            `{"allow": [...], "deny": [...]}`: either or both;
            `{"delete_*": false, "delete_draft": true}`: switches; the last that matches a tool
            decides, and a tool that none matches is kept;
            `{"all": [...]}`: a list of these forms, all of which must hold;
            a `ToolFilter`, which is given back.

    Returns:
        The filter; its `to_config()` has an equal meaning.

    Raises:
        ConfigError: Anything else.

    """
    if isinstance(value, ToolFilter):
        return value
    if isinstance(value, list | tuple):
        return ToolFilter.allow(*value)
    if not isinstance(value, Mapping):
        raise _malformed(value)
    if all(isinstance(entry, bool) for entry in value.values()):
        return _switches(value)
    if set(value) == {_COMBINED} and isinstance(value[_COMBINED], list | tuple):
        return _joined(parse_filter(part) for part in value[_COMBINED])
    return _allow_and_deny(value)


def _switches(value: Mapping[Any, bool]) -> ToolFilter:
    if not value:
        return ToolFilter()
    entries = tuple((_pattern(pattern), keep) for pattern, keep in value.items())
    return ToolFilter((_Patterns(entries=entries, otherwise=True),))


def _joined(filters: Iterable[ToolFilter]) -> ToolFilter:
    return ToolFilter(tuple(rule for part in filters for rule in part.rules))


def _allow_and_deny(value: Mapping[Any, Any]) -> ToolFilter:
    known = {"allow": ToolFilter.allow, "deny": ToolFilter.deny}
    if not set(value) <= set(known) or not all(isinstance(names, list | tuple) for names in value.values()):
        raise _malformed(value)
    return _joined(make(*value[word]) for word, make in known.items() if word in value)


def _malformed(value: object) -> ConfigError:
    return ConfigError(
        f"{value!r:.200} is no tool filter; write a list of names and patterns, "
        '{"allow": [...], "deny": [...]}, or {"name": false}'
    )
