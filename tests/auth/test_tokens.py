"""Where tokens are kept."""

from __future__ import annotations

import stat
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from mcp_adapters import ConfigError, FileTokenStore, KeyringTokenStore, MemoryTokenStore, TokenStore
from mcp_adapters._tokens import store_for


class FakeKeyring(types.ModuleType):
    """The three functions of the package that are used."""

    def __init__(self) -> None:
        super().__init__("keyring")
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, name: str) -> str | None:
        return self.kept.get((service, name))

    def set_password(self, service: str, name: str, text: str) -> None:
        self.kept[service, name] = text

    def delete_password(self, service: str, name: str) -> None:
        del self.kept[service, name]


@pytest.fixture(params=["memory", "file", "keyring"])
def store(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    if request.param == "keyring":
        monkeypatch.setitem(sys.modules, "keyring", FakeKeyring())
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return store_for(request.param)


def test_a_store_gives_back_what_it_was_given_last(store: TokenStore) -> None:
    assert store.load("a b/../c") is None

    store.save("a b/../c", "one")
    store.save("a b/../c", "tw\u00f6")
    store.save("other", "three")

    assert (store.load("a b/../c"), store.load("other")) == ("tw\u00f6", "three")
    store.delete("other")
    store.delete("other")
    assert store.load("other") is None
    assert "tw" not in repr(store)


def test_files_are_for_the_user_alone_and_leave_nothing_half_done(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "tokens"
    store = FileTokenStore(folder)
    store.save("a", "one")
    store.save("a", "two")

    (file,) = folder.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_write_that_fails_keeps_what_was_there(tmp_path: Path) -> None:
    store = FileTokenStore(tmp_path)
    store.save("a", "one")
    with pytest.raises(UnicodeEncodeError):
        store.save("a", "\ud800")

    assert store.load("a") == "one"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_file_that_is_open_to_others_is_not_trusted(tmp_path: Path) -> None:
    store = FileTokenStore(tmp_path)
    store.save("a", "one")
    (file,) = tmp_path.iterdir()
    file.chmod(0o644)

    with pytest.raises(PermissionError, match="chmod 600"):
        store.load("a")


def test_a_missing_keyring_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(ConfigError, match="pip install keyring"):
        KeyringTokenStore()


def test_an_object_of_ones_own_is_a_store_when_it_has_the_three_methods() -> None:
    own = MemoryTokenStore()

    assert store_for(own) is own
    with pytest.raises(ConfigError, match="load, save and delete"):
        store_for(object())
