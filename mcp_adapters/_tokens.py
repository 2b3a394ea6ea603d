"""Where the tokens of a login are kept: in memory, in files, in the system's keyring.

In: a name for a login and a text to keep. Out: the text again. What is in the text is the business of
the login; it is secret as a whole. Stores are called in worker threads and may block.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import os
import tempfile
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from mcp_adapters.errors import ConfigError

__all__ = ("FileTokenStore", "KeyringTokenStore", "MemoryTokenStore", "TokenStore", "store_for")


@runtime_checkable
class TokenStore(Protocol):
    """Keeps one secret text for each login."""

    def load(self, name: str) -> str | None:
        """The text that was saved last under `name`; None without one."""
        ...

    def save(self, name: str, text: str) -> None:
        """Keep `text` under `name`, instead of what was there."""
        ...

    def delete(self, name: str) -> None:
        """Forget what is kept under `name`; harmless when there is nothing."""
        ...


class MemoryTokenStore:
    """Keeps tokens as long as the object lives."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def load(self, name: str) -> str | None:
        """The text that was saved last under `name`; None without one."""
        return self._texts.get(name)

    def save(self, name: str, text: str) -> None:
        """Keep `text` under `name`, instead of what was there."""
        self._texts[name] = text

    def delete(self, name: str) -> None:
        """Forget what is kept under `name`; harmless when there is nothing."""
        self._texts.pop(name, None)

    def __repr__(self) -> str:
        return f"<MemoryTokenStore of {len(self._texts)} logins>"


class FileTokenStore:
    """Keeps tokens in files that only the user can read (mode 0600), one for each login.

    A file is replaced as a whole, so that a reader never sees half of it.

    Args:
        folder: Where; made (mode 0700) when it is not there. None means `mcp-adapters/tokens` in
            `XDG_STATE_HOME`, which is `~/.local/state` when it is not set.

    """

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        self._folder = Path(folder) if folder is not None else _state_home() / "mcp-adapters" / "tokens"

    def _path(self, name: str) -> Path:
        return self._folder / f"{hashlib.sha256(name.encode()).hexdigest()[:40]}.json"

    def load(self, name: str) -> str | None:
        """The text that was saved last under `name`; None without one.

        Raises:
            PermissionError: Others may read or change the file, so that it is not to be trusted.

        """
        try:
            with self._path(name).open(encoding="utf-8") as file:
                if os.name == "posix" and os.fstat(file.fileno()).st_mode & 0o077:
                    raise PermissionError(
                        "the file with the tokens is open to others; delete it or chmod 600"
                    )
                return file.read()
        except FileNotFoundError:
            return None

    def save(self, name: str, text: str) -> None:
        """Keep `text` under `name`, instead of what was there."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Made with mode 0600, before a single byte is in it.
        handle, made = tempfile.mkstemp(dir=self._folder, prefix=".", suffix=".tmp")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            Path(made).replace(self._path(name))
        except BaseException:
            with contextlib.suppress(OSError):
                Path(made).unlink()
            raise

    def delete(self, name: str) -> None:
        """Forget what is kept under `name`; harmless when there is nothing."""
        self._path(name).unlink(missing_ok=True)

    def __repr__(self) -> str:
        return f"FileTokenStore({str(self._folder)!r})"


class KeyringTokenStore:
    """Keeps tokens in the keyring of the system, by the package `keyring`.

    Raises:
        ConfigError: The package is not installed.

    """

    _SERVICE = "mcp-adapters"

    def __init__(self) -> None:
        try:
            self._keyring: Any = importlib.import_module("keyring")
        except ImportError as error:
            raise ConfigError("the token store 'keyring' needs a package: pip install keyring") from error

    def load(self, name: str) -> str | None:
        """The text that was saved last under `name`; None without one."""
        text: str | None = self._keyring.get_password(self._SERVICE, name)
        return text

    def save(self, name: str, text: str) -> None:
        """Keep `text` under `name`, instead of what was there."""
        self._keyring.set_password(self._SERVICE, name, text)

    def delete(self, name: str) -> None:
        """Forget what is kept under `name`; harmless when there is nothing."""
        if self.load(name) is not None:
            self._keyring.delete_password(self._SERVICE, name)


def store_for(choice: Any) -> TokenStore:
    """The store that a configuration asks for.

    Raises:
        ConfigError: It is none.

    """
    match choice:
        case "memory":
            return MemoryTokenStore()
        case "file":
            return FileTokenStore()
        case "keyring":
            return KeyringTokenStore()
        case TokenStore():
            return choice
    raise ConfigError(f"a {type(choice).__name__} is no token store; it needs load, save and delete")


def _state_home() -> Path:
    return Path(os.environ.get("XDG_STATE_HOME") or "~/.local/state").expanduser()
