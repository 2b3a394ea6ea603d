"""A configuration, from a file or parsed, to its servers.

In: a path or a mapping, the environment, and whom to ask for inputs. Out: the servers by key, in
the order of the configuration, or one error with everything that is wrong. Reads the given file and
the `envFile`s that it names, nothing else; starts nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mcp_adapters.errors import ConfigError

from .dialects import read_entry
from .jsonc import parse_jsonc
from .keys import URL_KEYS, likely_key
from .problems import ConfigProblem, config_error
from .variables import AskInput, Variables, parse_env_file

__all__ = ("load_servers",)

_CONTAINERS = ("mcpServers", "servers", "mcp")
_EDITOR_FOLDERS = frozenset({".cursor", ".gemini", ".kiro", ".roo", ".vscode"})
_NO_SERVERS = (bool, int, float, list, tuple, set, frozenset, bytes, os.PathLike)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Document:
    """The part of a configuration that counts."""

    entries: Mapping[Any, Any]
    container: str | None
    inputs: Any = ()
    settings: Mapping[str, Any] | None = None
    """Gemini CLI's `mcp` beside the servers: which of them are allowed and excluded."""


def load_servers(
    source: str | os.PathLike[str] | Mapping[str, Any],
    *,
    environ: Mapping[str, str],
    inputs: AskInput | None = None,
) -> dict[str, Any]:
    """Read the servers of a configuration in any of the known dialects.

    The servers are under `mcpServers` (Claude Desktop, Claude Code, Cursor, Gemini CLI, Cline,
    Windsurf), `servers` (VS Code), `mcp` (opencode; `mcp.servers` in VS Code's settings), or the whole
    is a map of servers (langchain-mcp-adapters). Files may have comments and trailing commas.

    A `timeout` is in seconds in a bare map and under `servers`, in milliseconds under `mcp`; under
    `mcpServers` it is in milliseconds from 1000 on, else in seconds, and always in seconds beside
    `autoApprove` or `alwaysAllow`, which only programs write that count in seconds.

    Args:
        source: Path of a JSON file (`~` is the home directory of `environ`), or the parsed value.
        environ: What `${VAR}`, `${VAR:-default}` and `${env:VAR}` stand for.
        inputs: Gives the value of `${input:id}`: gets the id and its definition, is called once for
            each id. What it raises passes through. None when nobody can be asked.

    Returns:
        The servers by key, in order: models for entries and for http(s) addresses, any other object
        (a model, an in-process server, a transport, a client) as it is. Disabled servers are in it.

    Raises:
        ConfigError: The file cannot be read or a server cannot be used; `problems` has everything.

    """
    if isinstance(source, Mapping):
        return _servers(source, _Surroundings(environ=environ, ask=inputs))
    if not isinstance(source, str | os.PathLike):
        raise _error(f"a {type(source).__name__} is no configuration; give a path or a mapping")
    name = os.fsdecode(source)
    if re.match(r"https?://", name):
        raise _error('an address alone is no configuration; name the server: {"name": "https://..."}')
    if name.lstrip().startswith("{"):
        raise _error("a text is the path of a file; parse JSON text first and give the result")
    path = _expanded(name, environ)
    text = _read(path)
    try:
        document = parse_jsonc(text)
    except ValueError as error:
        problem = ConfigProblem(message=str(error), source=str(path))
    else:
        if isinstance(document, Mapping):
            return _servers(document, _Surroundings(environ=environ, ask=inputs, path=path))
        problem = ConfigProblem(message="must be a JSON object", source=str(path))
    raise config_error([problem])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Surroundings:
    """Where a configuration comes from and what it may ask for."""

    environ: Mapping[str, str]
    ask: AskInput | None
    path: Path | None = None

    @property
    def source(self) -> str | None:
        return None if self.path is None else str(self.path)

    @property
    def workspace(self) -> Path | None:
        """The folder that editors would have open: the one with the editor's own folder in it."""
        if self.path is None:
            return None
        folder = Path(os.path.abspath(self.path)).parent  # noqa: PTH100  resolve() would follow links
        return folder.parent if folder.name in _EDITOR_FOLDERS else folder

    def variables(self, definitions: Mapping[str, Mapping[str, object]]) -> Variables:
        places = {"pathSeparator": os.sep, "/": os.sep}
        if home := _home(self.environ):
            places["userHome"] = home
        if workspace := self.workspace:
            places |= {"workspaceFolder": str(workspace), "workspaceFolderBasename": workspace.name}
        return Variables(self.environ, ask=self.ask, definitions=definitions, places=places)

    def read_env_file(self, name: str) -> Mapping[str, str]:
        """Read an `envFile`; a relative path counts from the workspace."""
        path = _expanded(name, self.environ)
        if not path.is_absolute() and self.workspace is None:
            raise ValueError("must be an absolute path, since the configuration did not come from a file")
        try:
            text = ((self.workspace or Path()) / path).read_text(encoding="utf-8-sig")
        except UnicodeDecodeError:
            problem = "the file is not UTF-8 text"
        except (OSError, ValueError) as error:
            problem = f"the file cannot be read: {getattr(error, 'strerror', None) or 'unusable path'}"
        else:
            return parse_env_file(text)
        raise ValueError(problem)


def _servers(document: Mapping[Any, Any], surroundings: _Surroundings) -> dict[str, Any]:
    """Read every entry, and report the problems of all at once."""
    source = surroundings.source
    servers: dict[str, Any] = {}
    problems: list[ConfigProblem] = []
    try:
        found = _found(document, in_file=source is not None)
        variables = surroundings.variables(_definitions(found.inputs))
    except ConfigError as error:
        raise config_error(replace(problem, source=source) for problem in error.problems) from None
    for key, value in found.entries.items():
        try:
            servers[key] = _server(key, _gated(key, value, found.settings), found, variables, surroundings)
        except ConfigError as error:
            name = key if isinstance(key, str) else None
            problems += [replace(problem, source=source, server=name) for problem in error.problems]
    if problems:
        raise config_error(problems)
    return servers


def _server(
    key: object, value: Any, found: _Document, variables: Variables, surroundings: _Surroundings
) -> Any:
    if not isinstance(key, str):
        raise _error(f"the server key {key!r} is not a text")
    if not key.strip():
        raise _error("a server's key must not be empty; tools are named after it")
    if isinstance(value, str):
        if not re.match(r"https?://", value, re.IGNORECASE):
            raise _error(
                "a bare text must be an http:// or https:// address; it is never a command: "
                'for one, write {"command": "program", "args": [...]}'
            )
        value = {"url": value}
    if isinstance(value, Mapping):
        return read_entry(
            value,
            container=found.container,
            variables=variables,
            read_env_file=surroundings.read_env_file,
        )
    if value is None or isinstance(value, _NO_SERVERS):
        raise _error(f"a {type(value).__name__} is no server; give an object with 'command' or 'url'")
    return value


def _found(document: Mapping[Any, Any], *, in_file: bool) -> _Document:
    """Tell in which form the servers are there."""
    containers = [
        key for key in _CONTAINERS if isinstance(document.get(key), Mapping) and not _is_entry(document[key])
    ]
    settings = document["mcp"] if "mcp" in containers else {}
    if "mcpServers" in containers and settings.keys() <= {"allowed", "excluded", "serverCommand"}:
        containers = [key for key in containers if key != "mcp"]
    if len(containers) > 1:
        raise _error(f"has servers under {containers[0]!r} and under {containers[1]!r}; keep one")
    if containers == ["mcp"] and isinstance(settings.get("servers"), Mapping):
        return _found(settings, in_file=in_file)
    if containers:
        (container,) = containers
        return _Document(
            entries=document[container],
            container=container,
            inputs=document.get("inputs", ()),
            settings=settings if container == "mcpServers" else None,
        )
    return _bare(document, in_file=in_file)


def _bare(document: Mapping[Any, Any], *, in_file: bool) -> _Document:
    for key in _CONTAINERS:
        if isinstance(document.get(key), bool | int | float | list | tuple | None) and key in document:
            raise _error("must be an object with a server under each key", field=key)
    if _is_entry(document):
        raise _error('this is one server without a key; name it: {"name": {...}}')
    entries = {key: value for key, value in document.items() if not str(key).startswith("$")}
    if in_file and entries and not any(map(_could_be_server, entries.values())):
        raise _error("has no servers; they are expected under 'mcpServers', 'servers' or 'mcp'")
    return _Document(entries=entries, container=None)


def _is_entry(value: Mapping[Any, Any]) -> bool:
    return isinstance(value.get("command"), str | list | tuple) or any(
        isinstance(value.get(key), str) for key in URL_KEYS
    )


def _could_be_server(value: object) -> bool:
    if isinstance(value, str):
        return re.match(r"https?://", value, re.IGNORECASE) is not None
    starts = {"command", "transport", "type", *URL_KEYS}
    return isinstance(value, Mapping) and any(key in starts or likely_key(key) in starts for key in value)


def _definitions(inputs: Any) -> dict[str, Mapping[str, object]]:
    """Give the definitions of inputs by their id."""
    definitions: dict[str, Mapping[str, object]] = {}
    if not isinstance(inputs, list | tuple):
        raise _error("must be a list of definitions", field="inputs")
    for index, definition in enumerate(inputs):
        if not isinstance(definition, Mapping) or not isinstance(definition.get("id"), str):
            raise _error("must be an object with an 'id'", field=f"inputs[{index}]")
        if definition["id"] in definitions:
            raise _error(f"defines {definition['id']!r} a second time", field=f"inputs[{index}]")
        definitions[definition["id"]] = definition
    return definitions


def _gated(key: object, value: Any, settings: Mapping[str, Any] | None) -> Any:
    """Switch off what Gemini CLI's `mcp.allowed` and `mcp.excluded` keep out."""
    if not settings or not isinstance(value, Mapping):
        return value
    allowed, excluded = settings.get("allowed"), settings.get("excluded")
    kept_out = (isinstance(allowed, list) and key not in allowed) or (
        isinstance(excluded, list) and key in excluded
    )
    return (
        {**{name: it for name, it in value.items() if name != "enabled"}, "disabled": True}
        if kept_out
        else value
    )


def _expanded(path: str, environ: Mapping[str, str]) -> Path:
    home = _home(environ)
    return Path(re.sub(r"^~(?=$|[/\\])", lambda _: home, path)) if home else Path(path)


def _home(environ: Mapping[str, str]) -> str:
    return environ.get("HOME") or environ.get("USERPROFILE") or ""


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        problem = ConfigProblem(message="the file is not UTF-8 text", source=str(path))
    except OSError as error:
        problem = ConfigProblem(
            message=f"the file cannot be read: {error.strerror}{_hint(path, error)}", source=str(path)
        )
    except ValueError:
        problem = ConfigProblem(message="is not a usable path", source=str(path))
    raise config_error([problem])


def _hint(path: Path, error: OSError) -> str:
    """What was probably meant by a path that leads nowhere."""
    if not isinstance(error, FileNotFoundError) or path.is_absolute():
        return ""
    if re.search(r"\s", str(path)):
        return '; a command goes into a mapping: {"name": {"command": "npx", "args": ["-y", "package"]}}'
    return f"; the current folder is {str(Path.cwd())!r}"


def _error(message: str, *, field: str | None = None) -> ConfigError:
    return config_error([ConfigProblem(message=message, field=field)])
