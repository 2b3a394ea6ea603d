"""Know the dialects of JSON Schema, and the one door to the library that reads them.

In: schemas that `limits.measure` has passed. Out: the dialect of a schema, what its meta-schema
says about it, a compiled validator. Nothing is ever fetched: the retriever refuses every address.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from jsonschema_rs import ValidationError, Validator

__all__ = ("Draft", "compile_schema", "declared_draft", "is_legacy", "meta_errors", "schema_uri")

Draft = Literal["2020-12", "2019-09", "draft-07", "draft-06", "draft-04"]
"""A dialect of JSON Schema, by the name of its specification."""

_URIS: Mapping[Draft, str] = {
    "2020-12": "https://json-schema.org/draft/2020-12/schema",
    "2019-09": "https://json-schema.org/draft/2019-09/schema",
    "draft-07": "http://json-schema.org/draft-07/schema#",
    "draft-06": "http://json-schema.org/draft-06/schema#",
    "draft-04": "http://json-schema.org/draft-04/schema#",
}
_BY_URI: Mapping[str, Draft] = {
    "json-schema.org/schema": "2020-12",
    **{uri.split("://")[1].rstrip("#"): draft for draft, uri in _URIS.items()},
}


def schema_uri(draft: Draft) -> str:
    """Give the `$schema` that declares a dialect."""
    return _URIS[draft]


def declared_draft(schema: Mapping[str, Any]) -> Draft | None:
    """Find the dialect that a schema declares by `$schema`; None when it declares none that is known."""
    uri = schema.get("$schema")
    return _BY_URI.get(uri.split("://")[-1].rstrip("#/")) if isinstance(uri, str) else None


def is_legacy(draft: Draft) -> bool:
    """Say whether the keywords beside a `$ref` say nothing, as before 2019-09."""
    return draft in ("draft-07", "draft-06", "draft-04")


def meta_errors(schema: Any, *, draft: Draft) -> Iterator[ValidationError]:
    """Yield everything that keeps a value from being a schema of a dialect."""
    return _meta_validator(draft).iter_errors(schema)


def compile_schema(schema: Any, *, draft: Draft) -> Validator:
    """Compile a schema to a validator that never asks the network.

    Formats are not asserted: what a format means is for the server to say.

    Raises:
        ValueError: The schema cannot be compiled, with the library's reason.

    """
    return _validator_class(draft)(schema, validate_formats=False, retriever=_refuse)


def _refuse(uri: str) -> Any:
    raise ValueError(f"references are not fetched: {uri}")


@lru_cache
def _meta_validator(draft: Draft) -> Validator:
    return compile_schema({"$schema": _URIS[draft], "$ref": _URIS[draft]}, draft=draft)


def _validator_class(draft: Draft) -> type[Validator]:
    import jsonschema_rs  # loaded at the first schema, not at import

    classes: Mapping[Draft, type[Validator]] = {
        "2020-12": jsonschema_rs.Draft202012Validator,
        "2019-09": jsonschema_rs.Draft201909Validator,
        "draft-07": jsonschema_rs.Draft7Validator,
        "draft-06": jsonschema_rs.Draft6Validator,
        "draft-04": jsonschema_rs.Draft4Validator,
    }
    return classes[draft]
