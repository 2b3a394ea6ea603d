"""Schemas: the check, the projections for models, and the way back of arguments."""

from mcp_adapters.schema.arguments import ArgumentCodec, ArgumentProblem, Decoded, describe
from mcp_adapters.schema.check import Verdict, check
from mcp_adapters.schema.limits import SchemaLimits, SchemaProblem
from mcp_adapters.schema.projecting import project
from mcp_adapters.schema.projection import Dialect, Loss, Projection, Rename, Renames

__all__ = (
    "ArgumentCodec",
    "ArgumentProblem",
    "Decoded",
    "Dialect",
    "Loss",
    "Projection",
    "Rename",
    "Renames",
    "SchemaLimits",
    "SchemaProblem",
    "Verdict",
    "check",
    "describe",
    "project",
)
