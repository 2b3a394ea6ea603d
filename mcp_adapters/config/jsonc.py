"""JSON as people keep it in configuration files: with comments and trailing commas.

In: the text of a file. Out: the value. Errors name the line and the column, never the text.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

__all__ = ("parse_jsonc",)

# Strings come first, so that nothing inside of one is taken for a comment or a comma.
_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"?|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
# A comma with no value before it is a mistake and stays one.
_COMMA = re.compile(r'(?P<kept>"(?:\\.|[^"\\])*"?|[\[{,][ \t\r\n]*,)|,(?=[ \t\r\n]*[}\]])', re.DOTALL)


def parse_jsonc(text: str) -> Any:
    """Parse JSON with `//` and `/* */` comments and trailing commas.

    Raises:
        ValueError: Not JSON, a key twice in one object, or nested too deep; the message says where
            and holds nothing of the text but the doubled key.

    """
    problem: str
    plain = _COMMA.sub(lambda found: found["kept"] or " ", _TOKEN.sub(_blanked, text))
    try:
        return json.loads(plain, object_pairs_hook=_object, parse_constant=_refused)
    except json.JSONDecodeError as error:
        problem = f"not valid JSON: {error.msg} (line {error.lineno}, column {error.colno})"
    except RecursionError:
        problem = "the JSON is nested too deep"
    # Outside of the handler: a chained JSONDecodeError would carry the whole text along.
    raise ValueError(problem)


def _blanked(found: re.Match[str]) -> str:
    """Keep strings; turn comments into blanks, so that lines and columns stay."""
    token = found[0]
    return token if token.startswith('"') else re.sub(r"[^\n]", " ", token)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        doubled = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"the key {doubled!r} is there twice in one object; keep one")
    return result


def _refused(constant: str) -> Any:
    raise ValueError(f"{constant} is not valid JSON")
