"""Text with its secrets replaced, for everything that people or logs get to see.

In: text, and the secrets that may be in it. Out: text in which `***` stands for each. Nothing here
decides what a value means to a server; where in doubt, it masks.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ("MASK", "mask", "mask_arguments", "mask_url", "shows_secrets", "url_secrets", "words")

MASK = "***"

_SECRET_FLAG = re.compile(
    r"(?P<flag>-{0,2}[\w-]*(?:token|secret|passw|key|auth|credential|header|bearer)[\w-]*)(?P<value>=.*)?",
    re.IGNORECASE | re.DOTALL,
)


def mask(text: str, secrets: Iterable[str]) -> str:
    """Replace every occurrence of every secret; the longest first, empty ones never."""
    known = sorted(set(filter(None, secrets)), key=len, reverse=True)
    return re.sub("|".join(map(re.escape, known)), MASK, text) if known else text


def mask_arguments(args: Sequence[str]) -> Iterator[str]:
    """Mask what arguments with telling names carry: `--api-key X`, `--token=X`, `API_KEY=X`."""
    hide_next = False
    for arg in args:
        flag = _SECRET_FLAG.fullmatch(arg)
        if hide_next and not flag:
            yield MASK
        elif flag and flag["value"]:
            yield f"{flag['flag']}={MASK}"
        else:
            yield arg
        hide_next = bool(flag and not flag["value"] and arg.startswith("-"))


def mask_url(url: str) -> str:
    """Mask the user and the values of the query; leave out the fragment."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return MASK
    user, at, host = parts.netloc.rpartition("@")
    query = "&".join(_masked_pair(pair) for pair in parts.query.split("&")) if parts.query else ""
    return parts._replace(netloc=f"{MASK if user else ''}{at}{host}", query=query, fragment="").geturl()


def url_secrets(url: str) -> Iterator[str]:
    """Give the user, the password and the values of the query, as written and decoded."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return
    yield from filter(None, (parts.username, parts.password))
    yield from (value for _, value in parse_qsl(parts.query))
    yield from (pair.partition("=")[2] for pair in parts.query.split("&"))


def shows_secrets(url: str) -> bool:
    """Whether an address has a user, or a value in its query whose name tells that it is secret."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return True
    return "@" in parts.netloc or any(_SECRET_FLAG.fullmatch(name) for name, _ in parse_qsl(parts.query))


def _masked_pair(pair: str) -> str:
    name, equals, _ = pair.partition("=")
    return f"{name}={MASK}" if equals else MASK


def words(value: str) -> Iterator[str]:
    """Give a secret and its longer words: of `Bearer abc...`, servers repeat the second alone."""
    yield value
    yield from (word for word in value.split() if len(word) >= 8)
