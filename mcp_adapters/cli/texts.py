"""Words of servers, made safe for a terminal.

In: any text. Out: the same text without what a terminal obeys instead of showing it, such as escape
sequences and marks that turn the writing direction, and not longer than asked.
"""

from __future__ import annotations

import unicodedata

__all__ = ("line", "plain")


def plain(text: str) -> str:
    """The text without control characters, line breaks and tabs excepted."""
    return "".join(letter for letter in text if letter in "\n\t" or not _is_control(letter))


def line(text: str, *, limit: int = 200) -> str:
    """The first line of a text that says something, cut to a number of characters."""
    words = plain(text).strip().partition("\n")[0].replace("\t", " ")
    return words if len(words) <= limit else f"{words[: limit - 1]}…"


def _is_control(letter: str) -> bool:
    # Cf: formats, such as those that reverse the direction; Co and Cs have no shape of their own.
    return unicodedata.category(letter) in ("Cc", "Cf", "Co", "Cs")
