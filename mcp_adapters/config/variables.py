"""Variables in configured text, and the files that set environment variables.

In: text, and what variables stand for: a mapping of the environment, the answers of the user, the
places that editors know. Out: the text with every variable replaced, and what was put in. The
environment of this process is never read, replaced text is never looked through again.

Forms: `${NAME}`, `${NAME:-default}` (for an unset or empty variable), `${env:NAME}`, `{env:NAME}`
(opencode), `${input:id}` and `${workspaceFolder}` and its like (VS Code, Cursor). In `env` and
`headers` also a value that is nothing but `$NAME` (Gemini CLI). What looks like a variable and is
none is an error; to get such text literally, set a variable to it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

__all__ = ("AskInput", "Filled", "VariableError", "Variables", "parse_env_file")

AskInput = Callable[[str, Mapping[str, object]], str]
"""Gets the id of an input and its definition, gives the value."""

_VARIABLE = re.compile(r"\$\{(?P<body>[^{}]*)\}|\{env:(?P<bare>[^{}]*)\}|\$\{")
_DOLLAR = re.compile(r"\$([A-Z_][A-Z0-9_]*)")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ENV_LINE = re.compile(r"(?:export\s+)?(?P<name>[A-Za-z_][\w.-]*)\s*=\s*(?P<value>.*)", re.ASCII)


class VariableError(Exception):
    """A variable is unset or cannot be understood; the message names it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """Text in which the variables are replaced."""

    text: str
    put_in: tuple[str, ...] = ()
    """What variables stood for, in order; to be treated as secret. Defaults are not in it."""


class Variables:
    """What the variables of one configuration stand for.

    Args:
        environ: The environment.
        ask: Gives the values of `${input:id}`, each asked for once; None when nobody can be asked.
        definitions: The configuration's `inputs` by id.
        places: `workspaceFolder` and its like.

    """

    def __init__(
        self,
        environ: Mapping[str, str],
        *,
        ask: AskInput | None = None,
        definitions: Mapping[str, Mapping[str, object]] | None = None,
        places: Mapping[str, str] | None = None,
    ) -> None:
        self._environ = environ
        self._ask = ask
        self._definitions = definitions or {}
        self._places = places or {}
        self._answers: dict[str, str] = {}

    def fill(self, text: str, *, dollar: bool = False) -> Filled:
        """Replace the variables in `text`; `dollar` also takes a text that is `$NAME` for one.

        Raises:
            VariableError: A variable is unset or cannot be understood.

        """
        if dollar and (whole := _DOLLAR.fullmatch(text)):
            value = self._environment(whole[1], default=None)
            return Filled(text=value, put_in=(value,))
        put_in: list[str] = []
        return Filled(
            text=_VARIABLE.sub(lambda found: self._replacement(found, put_in), text), put_in=tuple(put_in)
        )

    def _replacement(self, found: re.Match[str], put_in: list[str]) -> str:
        body, bare = found["body"], found["bare"]
        if bare is not None:
            body = f"env:{bare}"
        if body is None:
            raise VariableError("a '${' begins no complete variable; a default cannot hold another variable")
        if body in self._places:
            return self._places[body]
        name, has_default, default = body.partition(":-")
        value = self._value(name, default if has_default else None)
        if not (has_default and value == default):
            put_in.append(value)
        return value

    def _value(self, name: str, default: str | None) -> str:
        kind, colon, rest = name.partition(":")
        if not colon:
            if not _NAME.fullmatch(name):
                raise VariableError(f"${{{name}}} is not the name of a variable")
            return self._environment(name, default)
        if kind == "env" and rest:
            return self._environment(rest, default)
        if kind == "input" and rest:
            return self._input(rest)
        raise VariableError(f"${{{name}}} is a form of variable that is not supported")

    def _environment(self, name: str, default: str | None) -> str:
        value = self._environ.get(name)
        if value or (value is not None and default is None):
            return value
        if default is None:
            raise VariableError(f"the environment variable {name!r} is not set")
        return default

    def _input(self, name: str) -> str:
        if name not in self._answers:
            if self._ask is None:
                raise VariableError(f"the input {name!r} must be asked for; pass a callable as 'inputs'")
            if name not in self._definitions:
                raise VariableError(f"the input {name!r} is not defined under 'inputs'")
            answer = self._ask(name, self._definitions[name])
            if not isinstance(answer, str):
                raise VariableError(f"the answer for the input {name!r} is not a text")
            self._answers[name] = answer
        return self._answers[name]


def parse_env_file(text: str) -> dict[str, str]:
    """Read lines of `NAME=value`, with `export`, quotes, blank lines and `#` comments.

    Raises:
        ValueError: A line is of no such form; the message gives its number.

    """
    result: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        found = _ENV_LINE.fullmatch(stripped)
        if not found:
            raise ValueError(f"line {number} is not of the form NAME=value")
        result[found["name"]] = _unquoted(found["value"])
    return result


def _unquoted(value: str) -> str:
    quoted = re.match(r"(['\"])(.*?)\1\s*(?:#.*)?$", value)
    return quoted[2] if quoted else re.sub(r"(?:^|\s+)#.*$", "", value)
