"""One server's entry, in any of the dialects that people have, to a server model.

In: the entry, and what its variables stand for. Out: a model, or all the problems of the entry.
Files are read only by the function that is passed in for `envFile`.

An entry that is disabled is checked for its form only: no variable is replaced, nobody is asked for
an input, no file is read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import SecretStr

from mcp_adapters.errors import ConfigError

from .keys import (
    ALLOWING,
    DENYING,
    HANDLED,
    KINDS,
    MILLISECONDS,
    RENAMED,
    SECONDS_MARKS,
    URL_KEYS,
    Kind,
    likely_key,
)
from .models import HttpServer, Server, SseServer, StdioServer
from .oauth import read_oauth
from .problems import ConfigProblem, config_error
from .variables import VariableError, Variables

__all__ = ("read_entry",)

_EXPANDED = frozenset(
    {"args", "auth", "command", "cwd", "env", "headers", "install", "oauth", "sandbox", "url"}
)
_NEVER_SHOWN = frozenset({"auth", "env", "headers", "install", "oauth"})
_DEEPEST = 2
_ONLY_STDIO = ("args", "cwd", "env", "environment", "envFile", "install", "sandbox")
_ONLY_URL = ("auth", "headers", "read_timeout", "sse_read_timeout")


@dataclass(slots=True)
class _Reading:
    """What is known of one entry so far."""

    entry: Mapping[Any, Any]
    variables: Variables
    problems: list[ConfigProblem] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)
    """Values for the model, by the model's names."""
    spelled: dict[str, str] = field(default_factory=dict)
    """The model's names to the entry's."""
    put_in: list[str] = field(default_factory=list)
    """What variables put into fields that are not secret by themselves."""

    def add(self, message: str, at: str | None = None) -> None:
        self.problems.append(ConfigProblem(message=message, field=at))


def read_entry(
    entry: Mapping[Any, Any],
    *,
    container: str | None,
    variables: Variables,
    read_env_file: Callable[[str], Mapping[str, str]],
) -> Server:
    """Read one entry.

    Args:
        entry: As it was parsed; a key whose value is null counts as absent.
        container: The key under which the servers were, such as "mcpServers"; None for a bare map.
            It decides the unit of `timeout`.
        variables: What the variables stand for.
        read_env_file: Gives the variables that a file sets; raises ValueError when it cannot.

    Returns:
        The server, with the keys that are not used in `extra`.

    Raises:
        ConfigError: The entry cannot be used; `problems` has everything, without server and source.

    """
    present: Mapping[Any, Any] = {key: value for key, value in entry.items() if value is not None}
    reading = _Reading(present, variables)
    guesses = _check_keys(reading)
    kind = _kind(reading, guesses)
    _read_switch(reading)
    _read_fields(reading)
    _read_oauth(reading, kind)
    _read_timeouts(reading, container)
    _read_tools(reading)
    _read_env_file(reading, read_env_file)
    if reading.problems:
        raise config_error(reading.problems)
    try:
        return _model(reading, kind)(**reading.values, secrets=tuple(map(SecretStr, reading.put_in)))
    except ConfigError as error:
        reading.problems.extend(_as_spelled(reading, problem) for problem in error.problems)
    raise config_error(reading.problems)


def _check_keys(reading: _Reading) -> set[str]:
    """Report unusable and misspelled keys; give the keys that were probably meant."""
    guesses = set()
    for key in reading.entry:
        if not isinstance(key, str):
            reading.add(f"the key {key!r} is not a text")
        elif guess := likely_key(key):
            guesses.add(guess)
            reading.add(f"unknown key {key!r}; did you mean {guess!r}?", key)
    return guesses


def _kind(reading: _Reading, guesses: set[str]) -> Kind:
    """Tell how the server is reached, and report what contradicts or is missing."""
    said = _said_kind(reading)
    urls = [key for key in URL_KEYS if key in reading.entry]
    is_command = "command" in reading.entry
    if is_command and urls:
        reading.add(
            f"has both 'command' (a process to start) and {urls[0]!r} (an address to connect to); keep one"
        )
    elif said == "stdio" and urls:
        reading.add(f"is said to be a process to start, but has {urls[0]!r} instead of 'command'")
    elif said and said != "stdio" and is_command:
        reading.add("is said to be an address to connect to, but has 'command' instead of 'url'")
    elif not is_command and not urls and not guesses.intersection({"command", *URL_KEYS}):
        missing = {"stdio": "'command'", None: "'command' or 'url'"}.get(said, "'url'")
        reading.add(f"needs {missing}")
    kind: Kind = said or ("stdio" if is_command else "http" if "httpUrl" in reading.entry else "remote")
    for key in _ONLY_URL if kind == "stdio" else _ONLY_STDIO:
        if reading.entry.get(key):
            reach = "a command" if kind == "stdio" else "a URL"
            reading.add(f"has no meaning for a server with {reach}; remove it", key)
    return kind


def _said_kind(reading: _Reading) -> Kind | None:
    """Read `type` and `transport`; None when neither says anything that is known."""
    said: dict[str, Kind] = {}
    for key in ("type", "transport"):
        if key not in reading.entry:
            continue
        value = reading.entry[key]
        kind = KINDS.get(re.sub("[-_]", "", value).lower()) if isinstance(value, str) else None
        if kind is None:
            reading.add("must be one of 'stdio', 'http', 'sse', 'streamable-http', 'local' and 'remote'", key)
        else:
            said[key] = kind
    if len(set(said.values())) > 1:
        reading.add("'type' and 'transport' contradict each other; keep one")
    return next(iter(said.values()), None)


def _read_switch(reading: _Reading) -> None:
    off: set[bool] = set()
    for key, means_off in (("disabled", True), ("enabled", False)):
        value = reading.entry.get(key)
        if isinstance(value, bool):
            off.add(value is means_off)
        elif value is not None:
            reading.add("must be true or false", key)
    if len(off) > 1:
        reading.add("'disabled' and 'enabled' contradict each other; keep one")
    reading.values["disabled"] = True in off


def _read_fields(reading: _Reading) -> None:
    """Sort the keys into the model's fields and the rest, and replace the variables."""
    extra = {}
    for key, value in reading.entry.items():
        name = RENAMED.get(key, key)
        if name in _EXPANDED and not reading.values["disabled"]:
            value = _filled(reading, value, key, name)
        if key in RENAMED and name in reading.spelled:
            reading.add(f"says the same as {reading.spelled[name]!r}; keep one", key)
        elif key in RENAMED:
            reading.spelled[name] = key
            reading.values[name] = value
        elif key not in HANDLED:
            extra[key] = value
    for name in ("env", "headers"):
        if isinstance(pairs := reading.values.get(name), Mapping):
            reading.values[name] = {key: value for key, value in pairs.items() if value is not None}
    reading.values["extra"] = extra


def _filled(reading: _Reading, value: Any, at: str, name: str, depth: int = 0) -> Any:
    """Replace the variables in a text, in the items of a list, and in the values of an object."""
    if isinstance(value, str):
        try:
            filled = reading.variables.fill(value, dollar=name in {"env", "headers"})
        except VariableError as error:
            reading.add(str(error), at)
            return value
        if name not in _NEVER_SHOWN:
            reading.put_in.extend(filled.put_in)
        return filled.text
    if isinstance(value, list | tuple) and depth < _DEEPEST:
        return [_filled(reading, item, f"{at}[{index}]", name, depth + 1) for index, item in enumerate(value)]
    if isinstance(value, Mapping) and depth < _DEEPEST:
        return {key: _filled(reading, item, f"{at}.{key}", name, depth + 1) for key, item in value.items()}
    return value


def _read_oauth(reading: _Reading, kind: Kind) -> None:
    """Take another program's `oauth` for the way to sign in; what says nothing here stays unused."""
    extra = reading.values["extra"]
    told = extra.get("oauth")
    if told is None or kind == "stdio" or reading.values["disabled"] or _shows_credentials(reading):
        return
    if "auth" in reading.values:
        reading.add("says the same as 'auth'; keep one", "oauth")
        return
    try:
        auth, rest = read_oauth(told)
    except ConfigError as error:
        reading.problems += [
            replace(problem, field=".".join(filter(None, ("oauth", problem.field))))
            for problem in error.problems
        ]
        return
    if auth is not None:
        reading.values["auth"] = auth
    if rest == {}:
        del extra["oauth"]
    else:
        extra["oauth"] = rest


def _shows_credentials(reading: _Reading) -> bool:
    """Whether a header does already what signing in is for."""
    headers = reading.values.get("headers")
    return isinstance(headers, Mapping) and any(str(name).lower() == "authorization" for name in headers)


def _read_timeouts(reading: _Reading, container: str | None) -> None:
    """Bring `timeout`, whose unit depends on the program that the entry is from, into seconds."""
    timeout = reading.values.get("timeout")
    if container == "mcp" and isinstance(timeout, Mapping):
        reading.values["timeout"] = _in_seconds(timeout.get("request"), 0)
        reading.values.setdefault("connect_timeout", _in_seconds(timeout.get("startup"), 0))
        return
    from_number = MILLISECONDS.get(container or "")
    if from_number is not None and not any(mark in reading.entry for mark in SECONDS_MARKS):
        reading.values["timeout"] = _in_seconds(timeout, from_number)


def _in_seconds(value: Any, from_number: float) -> Any:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    # The upper limit keeps whole numbers out that do not fit into a float.
    return value / 1000 if is_number and from_number <= value <= 1e15 else value


def _read_tools(reading: _Reading) -> None:
    """Bring the lists of names that other programs use into `{"allow": [...], "deny": [...]}`."""
    choice: dict[str, Any] = {}
    for wanted, keys in (("allow", ALLOWING), ("deny", DENYING)):
        for key in keys:
            if key not in reading.entry:
                continue
            if wanted in choice or "tools" in reading.entry:
                reading.add("is one choice of tools too many; keep one", key)
            choice[wanted] = reading.entry[key]
            reading.spelled.setdefault("tools", key)
    if choice:
        reading.values["tools"] = choice


def _read_env_file(reading: _Reading, read: Callable[[str], Mapping[str, str]]) -> None:
    name = reading.entry.get("envFile")
    if name is None or reading.values["disabled"]:
        return
    if not isinstance(name, str):
        reading.add("must be the path of a file", "envFile")
        return
    try:
        from_file = read(reading.variables.fill(name).text)
    except (VariableError, ValueError) as error:
        reading.add(str(error), "envFile")
        return
    listed = reading.values.get("env", {})
    if isinstance(listed, Mapping):
        # A null in the entry takes a variable of the file away.
        nulls = reading.entry.get(reading.spelled.get("env", ""), {})
        kept = {key: value for key, value in from_file.items() if key not in nulls}
        reading.values["env"] = {**kept, **listed}


def _model(reading: _Reading, kind: Kind) -> type[StdioServer] | type[HttpServer] | type[SseServer]:
    """Pick the model; an address that says nothing else is SSE when its path ends in `/sse`."""
    if kind == "remote":
        path = re.split("[?#]", str(reading.values["url"]))[0]
        return SseServer if path.rstrip("/").endswith("/sse") else HttpServer
    if kind == "stdio":
        return StdioServer
    return SseServer if kind == "sse" else HttpServer


def _as_spelled(reading: _Reading, problem: ConfigProblem) -> ConfigProblem:
    """Name the place of a problem as the entry spells it."""
    place = problem.field or ""
    name = next(iter(re.split(r"[.\[]", place)), "")
    rest = place.removeprefix(name)
    command = reading.values.get("command")
    if name == "args" and isinstance(command, list) and (index := re.fullmatch(r"\[(\d+)\]", rest)):
        # The model counts the arguments from the second item of the command.
        at = int(index[1]) + 1
        name, rest = ("command", f"[{at}]") if at < len(command) else ("args", f"[{at - len(command)}]")
    spelled = reading.spelled.get(name, name)
    return ConfigProblem(message=problem.message, field=f"{spelled}{rest}" or None)
