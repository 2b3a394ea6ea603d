"""Find the tools that fit a task, by the words that they are described with.

In: tool specs and a question in plain words. Out: the specs that share words with it, best first.
The ranking is BM25 over names, titles, descriptions and arguments, English words by their stem. No
model, no download, no I/O: equal input gives equal output.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from typing import Any

from mcp_adapters.errors import ConfigError
from mcp_adapters.spec import ToolSpec

__all__ = ("ToolIndex",)

_NAME_WEIGHT = 3
"""How often the words of a name count: they are few, and chosen to tell tools apart."""
_WORD = re.compile(r"[^\W\d_]+|\d+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class ToolIndex:
    """The words of some tools, ready to be searched.

    Args:
        specs: The tools, in the order that decides between equally good ones.

    Raises:
        ConfigError: The packages that rank are not installed; the message has the line for pip.

    """

    def __init__(self, specs: Sequence[ToolSpec]) -> None:
        self.specs = tuple(specs)
        bm25s, self._stem = _libraries()
        self._ranking = bm25s.BM25()
        documents = [self._words(_text(spec)) for spec in self.specs]
        self._searchable = any(documents)
        if self._searchable:
            self._ranking.index(documents, show_progress=False)

    def search(self, query: str, *, limit: int) -> tuple[ToolSpec, ...]:
        """The tools that share words with a question, best first.

        Args:
            query: Plain words; their order does not matter.
            limit: How many at most, from 1.

        Returns:
            None at all when no word is known.

        Raises:
            ConfigError: `limit` is below 1.

        """
        if limit < 1:
            raise ConfigError(f"limit is {limit!r}; use a positive number")
        known = [word for word in self._words(query) if self._searchable and word in self._ranking.vocab_dict]
        if not known:
            return ()
        scores = self._ranking.get_scores(known).tolist()
        best = sorted(range(len(scores)), key=lambda index: (-scores[index], index))
        return tuple(self.specs[index] for index in best[:limit] if scores[index] > 0)

    def _words(self, text: str) -> list[str]:
        spaced = _HUMP.sub(" ", text)
        words: list[str] = self._stem([word.casefold() for word in _WORD.findall(spaced)])
        return words


def _text(spec: ToolSpec) -> str:
    names = f"{spec.server} {spec.remote_name} {spec.title or ''} "
    properties = spec.model_schema.get("properties")
    arguments = properties.items() if isinstance(properties, dict) else ()
    told = " ".join(f"{name} {_described(schema)}" for name, schema in arguments)
    return f"{names * _NAME_WEIGHT}{spec.description} {told}"


def _described(schema: Any) -> str:
    description = schema.get("description") if isinstance(schema, dict) else None
    return description if isinstance(description, str) else ""


def _libraries() -> tuple[Any, Any]:
    """The ranking, and what makes stems of words; imported at the first search only."""
    try:
        import bm25s
        import Stemmer
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"searching needs the module {error.name!r}, which is not installed; "
            'run: pip install "mcp-adapters[search]"'
        ) from error
    logging.getLogger("bm25s").setLevel(logging.WARNING)  # it makes itself the loudest of all loggers
    return bm25s, Stemmer.Stemmer("english").stemWords
