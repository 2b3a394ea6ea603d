"""Declare tools to model providers directly, for programs without an agent framework.

In: a `ToolSpec` and a provider. Out: a JSON-able dict in exactly the form that the provider's HTTP API
takes for one function. The schema is projected anew where the provider needs another form than the
toolbox's; the names, and the arguments that come back, are understood whatever the form. Nothing here
calls a provider, and nothing that comes in is changed.

Source: OpenAI, Chat Completions and Responses, `tools`; Anthropic, Messages, `tools`; Gemini API,
`FunctionDeclaration`; as of November 2026.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, assert_never, get_args

from mcp_adapters.errors import ConfigError
from mcp_adapters.providers import with_note
from mcp_adapters.schema import Projection, SchemaLimits, check, project
from mcp_adapters.spec import Dialect, Loss, ToolSpec

_ANY_SIZE = SchemaLimits(bytes=2**31, nodes=10_000_000, depth=128)
"""The toolbox's own limits have let the schema pass."""

__all__ = ("PROVIDERS", "Provider", "declaration_losses", "declare")

Provider: TypeAlias = Literal["anthropic", "gemini", "openai", "openai-responses"]
"""Whose form a declaration has; "openai" is Chat Completions, which many other services take too."""

PROVIDERS: tuple[Provider, ...] = get_args(Provider)
"""Every provider that there is a form for."""


def declare(
    spec: ToolSpec, provider: Provider, *, strict: bool | None = None, description_max: int | None = None
) -> dict[str, Any]:
    """Write one tool as a provider's API takes it.

    Args:
        spec: The tool.
        provider: Whose form.
        strict: For OpenAI: whether a tool that can be said in strict mode honestly is declared strict;
            the others are declared without. None means: when the toolbox's dialect is "openai-strict".
        description_max: Most characters of the description; None means no limit.

    Returns:
        A fresh dict that shares nothing with the spec. For "gemini" it is one entry of
        `functionDeclarations`; for the others one entry of `tools`.

    Raises:
        ConfigError: `strict` is given for a provider that has no such mode here, or
            `description_max` is below 1.

    """
    dialect = _dialect(spec, provider, strict=strict)
    projection = _projected(spec, dialect)
    text = with_note(spec.plain_description or spec.description, projection.note, limit=description_max)
    named = {"name": spec.exposed_name, "description": text}
    match provider:
        case "openai":
            mode = {"strict": True} if projection.strict else {}
            return {"type": "function", "function": {**named, "parameters": projection.schema, **mode}}
        case "openai-responses":
            # Left out, it would not mean False: the API then tries to make the schema strict.
            return {
                "type": "function",
                **named,
                "parameters": projection.schema,
                "strict": projection.strict,
            }
        case "anthropic":
            return {**named, "input_schema": projection.schema}
        case "gemini":
            return {**named, **_gemini_parameters(projection.schema, dialect)}
        case _:
            assert_never(provider)


def declaration_losses(spec: ToolSpec, provider: Provider, *, strict: bool | None = None) -> tuple[Loss, ...]:
    """Say what a declaration does not say as the server's schema does, and why it is not strict.

    Args:
        spec: The tool.
        provider: As for `declare`.
        strict: As for `declare`.

    Raises:
        ConfigError: As `declare`.

    """
    dialect = _dialect(spec, provider, strict=strict)
    return spec.losses if dialect == spec.dialect else _projected(spec, dialect).losses


def _dialect(spec: ToolSpec, provider: Provider, *, strict: bool | None) -> Dialect:
    """Which projection the provider gets; whoever chose the server's own schemas gets them everywhere."""
    if provider not in ("openai", "openai-responses"):
        if strict is not None:
            raise ConfigError(f"strict is for 'openai' and 'openai-responses'; {provider!r} does not take it")
        fitting: Dialect = "gemini" if provider == "gemini" else "portable"
    elif strict or (strict is None and spec.dialect == "openai-strict"):
        return "openai-strict"
    else:
        fitting = "portable"
    return "raw" if spec.dialect == "raw" else fitting


def _gemini_parameters(schema: dict[str, Any], dialect: Dialect) -> dict[str, Any]:
    if dialect == "raw":
        return {"parametersJsonSchema": schema}
    # An object without properties is refused; no parameters at all mean the same.
    return {"parameters": _without_marks(schema)} if schema["properties"] else {}


def _without_marks(node: dict[str, Any]) -> dict[str, Any]:
    """Copy a Gemini schema without `default: null`.

    It tells a client library which inner properties are optional; beside a union, Vertex refuses it.
    """
    done = {key: value for key, value in node.items() if not (key == "default" and value is None)}
    if "properties" in done:
        done["properties"] = {key: _without_marks(value) for key, value in done["properties"].items()}
    if "items" in done:
        done["items"] = _without_marks(done["items"])
    if "anyOf" in done:
        done["anyOf"] = [_without_marks(branch) for branch in done["anyOf"]]
    return done


def _projected(spec: ToolSpec, dialect: Dialect) -> Projection:
    """Another projection of a schema that was found usable when the toolbox opened."""
    return project(check(spec.input_schema, limits=_ANY_SIZE).schema or {}, dialect)
