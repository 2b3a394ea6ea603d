"""Spell the name of one tool, without looking at any other.

In: an identity and a policy. Out: legal names that the tool may get, best first and without end.
Nothing here knows which names are taken.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, assert_never

if TYPE_CHECKING:
    from mcp_adapters.naming.policy import NamePolicy

__all__ = ("Identity", "Spell", "Speller", "Spelling")

Identity: TypeAlias = tuple[str, str]
"""The server's key in the configuration, and the server's own name for the tool."""

_HASH_SIZES = (8, 16, 26, 52)
_SHORTEST_STEM = 3
_UNREADABLE_TOOL = "tool"
_LEAD = "t_"
_READABLE = re.compile("[A-Za-z0-9]")


@dataclass(frozen=True, slots=True)
class Spelling:
    """The name that a tool would like, and whether it needed no change for it."""

    name: str
    unchanged: bool = False


Spell: TypeAlias = Callable[[Identity], Spelling]


class Speller:
    """Spell names by a policy; knows one tool at a time."""

    def __init__(self, policy: NamePolicy) -> None:
        self._policy = policy
        self._rule = policy.rule
        self._illegal = re.compile(f"[^A-Za-z0-9{re.escape(policy.punctuation)}]")

    def plain_rounds(self) -> list[Spell]:
        """Return the ways to spell a name without a hash for a clash, best first."""
        match self._policy.prefix:
            case "always":
                return [self._prefixed]
            case "never":
                return [self._bare]
            case "on_clash":
                return [self._bare, self._prefixed]
            case _:
                assert_never(self._policy.prefix)

    def hash_rounds(self) -> Iterator[Spell]:
        """Yield the ways to spell a name with a hash: longer ones, then, without end, other ones."""
        prefixed = self._policy.prefix != "never"
        sizes = [size for size in _HASH_SIZES if size + 1 + _SHORTEST_STEM <= self._policy.max_length]
        for size in sizes:
            yield self._hash_round(prefixed, size, 0)
        for salt in itertools.count(1):
            yield self._hash_round(prefixed, sizes[-1], salt)

    def _hash_round(self, prefixed: bool, size: int, salt: int) -> Spell:
        return lambda identity: Spelling(self._hashed(identity, prefixed, size, salt))

    def _bare(self, identity: Identity) -> Spelling:
        return self._plain(identity, prefixed=False)

    def _prefixed(self, identity: Identity) -> Spelling:
        return self._plain(identity, prefixed=True)

    def _plain(self, identity: Identity, *, prefixed: bool) -> Spelling:
        server, tool = identity
        joined = f"{server}{self._policy.separator}{tool}" if prefixed else tool
        if tool and (server or not prefixed) and self._rule.allows(joined):
            return Spelling(joined, unchanged=True)
        front, back = self._parts(identity, prefixed)
        name = f"{front}{self._policy.separator}{back}" if front else back
        must_hash = self._policy.hashed == "every_change" or not self._clean(tool)
        if must_hash or len(name) > self._policy.max_length:
            name = self._hashed(identity, prefixed, _HASH_SIZES[0])
        return Spelling(name)

    def _hashed(self, identity: Identity, prefixed: bool, size: int, salt: int = 0) -> str:
        """Spell the name with a hash at its end; the server gives way to the tool."""
        front, back = self._parts(identity, prefixed)
        room = self._policy.max_length - size - 1
        left = room - len(self._policy.separator) - len(back)
        if front and left > 0:
            stem = f"{front[:left]}{self._policy.separator}{back}"
        else:
            stem = self._led(back)[:room]
        return f"{stem}_{_digest(identity, size, salt)}"

    def _parts(self, identity: Identity, prefixed: bool) -> tuple[str, str]:
        """Return the legal text of server and tool; the server's is empty when it is not to be seen."""
        server, tool = identity
        front = self._clean(server) if prefixed else ""
        back = self._clean(tool) or _UNREADABLE_TOOL
        return (self._led(front), back) if front else ("", self._led(back))

    def _clean(self, part: str) -> str:
        """Replace what is illegal; empty when nothing readable is left."""
        return self._illegal.sub("_", part) if _READABLE.search(part) else ""

    def _led(self, part: str) -> str:
        """Put a letter in front when the first character may not be first."""
        return part if self._rule.allows(part[:1]) else _LEAD + part


def _digest(identity: Identity, size: int, salt: int) -> str:
    """Hash server and tool to `size` characters, at most 52."""
    # A NUL in the server's key becomes a byte that UTF-8 never has, so that no two tools are alike.
    server, tool = (part.encode("utf-8", "surrogatepass") for part in identity)
    data = server.replace(b"\0", b"\xff") + b"\0" + tool + (b"\0%d" % salt if salt else b"")
    enough = -(-size * 5 // 8)
    return base64.b32encode(hashlib.sha256(data).digest()[:enough]).decode()[:size].lower()
