"""HTML for notebooks: small pieces, in which all text is escaped and none is endless.

In: plain text, as servers and users chose it. Out: HTML without scripts, links or styles from elsewhere. It
knows nothing of tools; each class says with these pieces how it looks.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

__all__ = ("Markup", "code", "details", "lines", "media", "plain", "table")

MAX_CHARS = 4_000
"""Of one text; what is longer loses its end, and says so."""
MAX_ROWS = 200
"""Of one table; what is longer loses its end, and says so."""
MAX_MEDIA_CHARS = 20_000_000
"""Of one image or sound in base64; a larger one is not shown."""

_MEDIA = re.compile(r"(image|audio)/[a-z0-9][a-z0-9.+-]*", re.ASCII)
_SHOWN_IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""Formats that hold pixels alone; an SVG is a document with a life of its own."""
_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}", re.ASCII)
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]"
)
"""Control characters, and those that turn or hide text."""


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def plain(value: object, *, max_chars: int = MAX_CHARS) -> Markup:
    """Escape one text; characters that nobody sees are shown as their numbers.

    Args:
        value: Its `str` is taken; `Markup` is given back as it is.
        max_chars: How many characters of it are kept.

    """
    if isinstance(value, Markup):
        return value
    text = str(value)
    more = len(text) - max_chars
    cut = f"{text[:max_chars]}\n[{more} more characters]" if more > 0 else text
    seen = _UNSEEN.sub(lambda found: f"\\u{{{ord(found[0]):x}}}", cut)
    return Markup(html.escape(seen))


def code(value: Any) -> Markup:
    """A text with its line breaks, or any other value as JSON."""
    text = value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False, default=str)
    return Markup(f'<pre style="white-space:pre-wrap;margin:0;font-family:monospace">{plain(text)}</pre>')


def details(summary: object, body: Markup) -> Markup:
    """Something that is folded up until it is clicked."""
    return Markup(f"<details><summary>{plain(summary)}</summary>{body}</details>")


def lines(pieces: Iterable[object]) -> Markup:
    """Pieces one below the other; empty ones are left out."""
    shown = [plain(piece) for piece in pieces]
    return Markup("".join(f"<div>{piece}</div>" for piece in shown if piece))


def table(titles: Sequence[str], rows: Sequence[Sequence[object]]) -> Markup:
    """Rows under titles; with no titles, the first cell of each row is its title."""
    head = "".join(f"<th style='text-align:left'>{plain(title)}</th>" for title in titles)
    body = "".join(f"<tr>{_cells(row, titled=not titles)}</tr>" for row in rows[:MAX_ROWS])
    more = len(rows) - MAX_ROWS
    rest = f"<div>and {more} more</div>" if more > 0 else ""
    return Markup(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}")


def _cells(row: Sequence[object], *, titled: bool) -> str:
    names = ["th" if titled and number == 0 else "td" for number in range(len(row))]
    return "".join(
        f"<{name} style='text-align:left;vertical-align:top'>{plain(cell)}</{name}>"
        for name, cell in zip(names, row, strict=True)
    )


def media(mime_type: str, data: str) -> Markup:
    """An image or a sound that the page itself holds; empty for what a notebook cannot show safely.

    Args:
        mime_type: Such as `image/png`.
        data: Base64.

    """
    kind = mime_type.strip().lower()
    known = _MEDIA.fullmatch(kind)
    data = "".join(data.split())
    if not known or len(data) > MAX_MEDIA_CHARS or not _BASE64.fullmatch(data):
        return Markup("")
    if known[1] == "audio":
        return Markup(f'<audio controls src="data:{kind};base64,{data}"></audio>')
    if kind not in _SHOWN_IMAGES:
        return Markup("")
    return Markup(f'<img style="max-width:100%" src="data:{kind};base64,{data}">')
