"""The small languages of a configuration: JSON with comments, misspelled keys, environment files."""

from __future__ import annotations

import itertools
import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_adapters.config.jsonc import parse_jsonc
from mcp_adapters.config.keys import HANDLED, RENAMED, likely_key
from mcp_adapters.config.variables import parse_env_file

TEXT = st.text(st.sampled_from('/*,"\\]}\n a1é'))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner),
    max_leaves=12,
)


@settings(deadline=None)
@given(VALUES, st.sampled_from([None, 2]))
def test_plain_json_means_what_it_means_to_the_standard_library(value: Any, indent: int | None) -> None:
    assert parse_jsonc(json.dumps(value, indent=indent)) == value


@settings(deadline=None)
@given(VALUES, st.sampled_from([' // one, " line ]\n', '/* several\n, " lines } */', ",\n", " , // x\n"]))
def test_comments_and_trailing_commas_change_nothing(value: Any, noise: str) -> None:
    text = json.dumps({"a": [value], "b": value}, indent=1)
    # Only lines that are brackets alone, so that nothing inside of a text is touched.
    lines = text.splitlines()
    noisy = [
        noise + line if line.strip() in {"]", "}", "],", "},"} and before.strip()[-1:] not in "[{," else line
        for before, line in zip(["[", *lines], lines, strict=False)
    ]

    assert parse_jsonc("\n".join(noisy)) == {"a": [value], "b": value}


@pytest.mark.parametrize("text", ['{"a": 1,, }', "[,]", '{"a": 1 "b": 2}', "/* open", '"open', "1" * 5000])
def test_what_is_not_json_even_so_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"^(not valid JSON|Exceeds the limit)"):
        parse_jsonc(text)


def one_slip(key: str) -> list[str]:
    """All of a key's spellings with a letter left out, doubled or changed, or two swapped."""
    return [
        *(key[:at] + key[at + 1 :] for at in range(len(key))),
        *(key[:at] + key[at] + key[at:] for at in range(len(key))),
        *(key[:at] + "#" + key[at + 1 :] for at in range(len(key)) if len(key) > 3),
        *(key[:at] + key[at + 1] + key[at] + key[at + 2 :] for at in range(len(key) - 1)),
        key.upper(),
    ]


def slips_between(first: str, second: str) -> int:
    """Letters added, left out or changed and neighbours swapped, at least; case and separators aside."""
    one, two = (re.sub("[-_]", "", key).lower() for key in (first, second))
    table = {(at, 0): at for at in range(len(one) + 1)} | {(0, at): at for at in range(len(two) + 1)}
    for i, j in itertools.product(range(1, len(one) + 1), range(1, len(two) + 1)):
        changed = table[i - 1, j - 1] + (one[i - 1] != two[j - 1])
        table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, changed)
        if i > 1 and j > 1 and one[i - 2 : i] == two[j - 2 : j][::-1]:
            table[i, j] = min(table[i, j], table[i - 2, j - 2] + 1)
    return table[len(one), len(two)]


@pytest.mark.parametrize("key", [*RENAMED, *HANDLED])
def test_every_slip_of_one_letter_leads_to_a_key_that_is_one_slip_away(key: str) -> None:
    slips = {slip for slip in one_slip(key) if len(slip) > 2} - {*RENAMED, *HANDLED}

    guesses = {slip: likely_key(slip) for slip in slips}

    assert [slip for slip, guess in guesses.items() if guess is None or slips_between(slip, guess) > 1] == []


@settings(deadline=None)
@given(st.text(max_size=2) | st.sampled_from(["description", "trust", "name", "version", "startup"]))
def test_keys_that_resemble_none_lead_nowhere(key: str) -> None:
    assert likely_key(key) is None


def test_an_environment_file_gives_its_variables() -> None:
    text = (
        "A=1\n"
        "export B = two words # and a comment\n"
        "\n"
        "  # a comment\n"
        "C='single # kept' # gone\n"
        'D="double"\n'
        "E=\n"
        "F=a#b\n"
        'G="open\n'
    )

    assert parse_env_file(text) == {
        "A": "1",
        "B": "two words",
        "C": "single # kept",
        "D": "double",
        "E": "",
        "F": "a#b",
        "G": '"open',
    }


@pytest.mark.parametrize(("text", "line"), [("A=1\nB", 2), ("=x", 1), ("A B=1", 1)])
def test_a_line_of_an_environment_file_that_sets_nothing_is_refused(text: str, line: int) -> None:
    with pytest.raises(ValueError, match=rf"^line {line} is not of the form NAME=value$"):
        parse_env_file(text)
