"""Project a checked schema for the models of one dialect.

In: a schema that `check` has passed. Out: the schema that models get. Every checked schema gets one;
equal input gives equal output, of bounded size; the input is not changed.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, assert_never

from mcp_adapters.schema.gemini import gemini
from mcp_adapters.schema.portable import portable, sketch
from mcp_adapters.schema.projection import Dialect, Projection
from mcp_adapters.schema.strict import openai_strict

if TYPE_CHECKING:
    from mcp_adapters.schema.references import Schema

__all__ = ("project",)


def project(schema: Schema, dialect: Dialect = "portable") -> Projection:
    """Make the schema that models get.

    Args:
        schema: `Verdict.schema`; not changed.
        dialect: "portable" for nearly every provider; "openai-strict" for OpenAI's strict mode, where
            a schema that cannot be said in it honestly gets its portable form; "gemini" for Google's
            OpenAPI subset; "raw" for the server's own with nothing but `properties` added.

    Returns:
        The projection, which shares nothing with the input.

    """
    match dialect:
        case "portable":
            return portable(schema)
        case "openai-strict":
            return openai_strict(schema)
        case "gemini":
            return gemini(schema)
        case "raw":
            return Projection(
                schema=json.loads(json.dumps({**schema, "properties": schema.get("properties", {})})),
                every_rename=sketch(schema, rename_everywhere=True).every_rename,
            )
        case _:
            assert_never(dialect)
