"""What a toolbox offers: every server's listing, filtered, checked, named.

In: listings as they came over the wire and what the user decided. Out: a `Catalog` of tool specs
and of skipped tools with the reason for each. No I/O and no clock: equal input gives equal output,
and nothing disappears without an entry in `skipped`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from mcp_adapters.errors import DriftError, ToolboxLoadError
from mcp_adapters.filtering import ToolFilter, read_annotations, select
from mcp_adapters.lockfile import Drift, Lock, OnDrift, find_drifts
from mcp_adapters.naming import Identity, NamePolicy, Names, assign_names
from mcp_adapters.policy import ApprovalPolicy
from mcp_adapters.providers import ProviderProfile, check_count, shorten_description, with_note
from mcp_adapters.results import wraps_result
from mcp_adapters.schema import ArgumentCodec, Dialect, SchemaLimits, SchemaProblem, Verdict, check, project
from mcp_adapters.spec import ListedTool, SkippedTool, ToolSpec

__all__ = ("Catalog", "Listing", "OnBadTool", "build", "read_listing")

OnBadTool: TypeAlias = Literal["fail", "skip"]
"""What a tool with an unusable definition does: keep the toolbox from opening, or be left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """One server's tools, as far as its listing could be read."""

    server: str
    tools: tuple[ListedTool, ...]
    malformed: tuple[SkippedTool, ...] = ()
    """Entries that are no tools at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalog:
    """What a toolbox offers and what it leaves out."""

    specs: tuple[ToolSpec, ...] = ()
    """The tools, in the order of the servers and of their listings."""
    skipped: tuple[SkippedTool, ...] = ()
    """What the servers offer and the toolbox leaves out."""
    warnings: tuple[str, ...] = ()
    """What the user should know: repairs, unknown names in filters, duplicates."""
    names: Names
    drifts: tuple[Drift, ...] = ()
    """What is not as it was locked."""
    codecs: Mapping[Identity, ArgumentCodec]
    """How a model's arguments are brought into the server's form, by (server, tool)."""


def read_listing(
    server: str, pages: Iterable[Mapping[str, Any]], *, forbidden: Mapping[str, str] | None = None
) -> Listing:
    """Read the pages of a `tools/list` leniently.

    Args:
        server: The server's key in the configuration.
        pages: The results as JSON, in order.
        forbidden: Tool name -> why the transport's rules forbid it; None for no such tools.

    Returns:
        Every entry that has a name, each name once, and a `SkippedTool` for every other entry.

    Source: MCP 2025-11-25, server/tools, "Listing Tools".

    """
    tools: dict[str, ListedTool] = {}
    malformed: list[SkippedTool] = []
    pages = tuple(pages)
    malformed += [_no_list(server) for page in pages if not isinstance(page.get("tools"), list)]
    for index, entry in enumerate(entry for page in pages for entry in _entries(page)):
        name = entry.get("name") if isinstance(entry, Mapping) else None
        if not isinstance(name, str):
            malformed.append(_nameless(server, index))
        elif name in tools:
            malformed.append(_listed_twice(server, name))
        else:
            problem = (forbidden or {}).get(name)
            tools[name] = ListedTool(server=server, name=name, definition=entry, problem=problem)
    return Listing(server=server, tools=tuple(tools.values()), malformed=tuple(malformed))


def _entries(page: Mapping[str, Any]) -> Sequence[Any]:
    entries = page.get("tools")
    return entries if isinstance(entries, list) else ()


def _no_list(server: str) -> SkippedTool:
    return SkippedTool(
        server=server,
        name="tools/list",
        reason="a page of the listing holds no list of tools",
        pointer="/tools",
        remedy=_REMEDY,
    )


def _nameless(server: str, index: int) -> SkippedTool:
    return SkippedTool(
        server=server,
        name=f"#{index}",
        reason=f"entry {index} of the listing has no name",
        pointer="/name",
        remedy=_REMEDY,
    )


def _listed_twice(server: str, name: str) -> SkippedTool:
    return SkippedTool(
        server=server,
        name=name,
        reason="the server lists this name twice; the first definition counts",
        pointer="/name",
        remedy=_REMEDY,
    )


_REMEDY = "report it to the server's authors, hide the tool with a filter, or use on_bad_tool='skip'"


def build(
    listings: Sequence[Listing],
    *,
    filters: ToolFilter | Mapping[str, ToolFilter] | None,
    names: NamePolicy,
    kept: Mapping[Identity, str],
    dialect: Dialect,
    provider: ProviderProfile | None,
    limits: SchemaLimits,
    on_bad_tool: OnBadTool,
    policy: ApprovalPolicy | None = None,
    read_only: bool = False,
    lock: Lock | None = None,
    on_drift: OnDrift = "fail",
) -> Catalog:
    """Decide what a toolbox offers.

    Args:
        listings: One for each server, in the order of the configuration.
        filters: For all servers, or by server; None hides nothing.
        names: How exposed names are made.
        kept: Names given earlier in the life of the toolbox, by (server, tool).
        dialect: For which kind of model the schemas are projected.
        provider: Whose limits on the number of tools and on descriptions hold; None means nobody's.
        limits: How large a schema may be.
        on_bad_tool: What an unusable definition does.
        policy: Decides which tools are not offered, and which only read; None knows of neither.
        read_only: Whether only tools that only read are offered.
        lock: What the tools were when somebody looked at them; its names come before new ones.
        on_drift: What a tool does that is not as it was locked.

    Raises:
        DriftError: `on_drift` is "fail" and there are such tools; it names them all.
        ToolboxLoadError: `on_bad_tool` is "fail" and there are unusable tools; it names them all.
            Or there are more tools than the provider takes; it has the number of each server.

    """
    listed = [tool for listing in listings for tool in listing.tools]
    selection = select(listed, filters, servers=[listing.server for listing in listings])
    ruled = [(tool, _ruled_out(tool, policy or ApprovalPolicy(), read_only)) for tool in selection.kept]
    checked = [(tool, _checked(tool, limits)) for tool, reason in ruled if reason is None]
    bad = [skipped for listing in listings for skipped in listing.malformed]
    bad += [_bad(tool, verdict) for tool, verdict in checked if verdict.schema is None]
    if bad and on_bad_tool == "fail":
        raise _load_error(bad)
    good = [(tool, verdict) for tool, verdict in checked if verdict.schema is not None]
    drifts = _drifts(lock, [tool for tool, _ in good], listings, on_drift)
    dropped = [_dropped(drift) for drift in drifts if on_drift == "drop" and "gone" not in drift.kinds]
    left_out = {(skipped.server, skipped.name) for skipped in dropped}
    good = [(tool, verdict) for tool, verdict in good if (tool.server, tool.name) not in left_out]
    pinned = {} if lock is None else lock.names
    named = assign_names([(tool.server, tool.name) for tool, _ in good], names, kept={**pinned, **kept})
    offered = [
        _spec(tool, verdict, named.exposed[identity], dialect, provider)
        for tool, verdict in good
        if (identity := (tool.server, tool.name)) in named.exposed
    ]
    if provider is not None:
        check_count([spec for spec, _ in offered], provider)
    return Catalog(
        specs=tuple(spec for spec, _ in offered),
        skipped=(*selection.dropped, *_ruled(ruled), *bad, *dropped, *named.skipped),
        warnings=(
            *selection.warnings,
            *_repairs(good),
            *named.warnings,
            *map(_left_out, bad),
            *map(str, drifts),
        ),
        names=named,
        drifts=drifts,
        codecs={(spec.server, spec.remote_name): codec for spec, codec in offered},
    )


def _ruled_out(tool: ListedTool, policy: ApprovalPolicy, read_only: bool) -> str | None:
    """Why the policy keeps a tool from being offered; None when it does not."""
    hints = read_annotations(tool.definition)
    decision, reason = policy.rule(tool.server, tool.name, hints)
    if decision == "deny":
        return f"left out by the policy: {reason}"
    if read_only and policy.reading(tool.server, tool.name, hints) is None:
        return "left out by read_only: neither the policy nor a trusted server says that it only reads"
    return None


def _ruled(ruled: Iterable[tuple[ListedTool, str | None]]) -> list[SkippedTool]:
    return [
        SkippedTool(server=tool.server, name=tool.name, reason=reason)
        for tool, reason in ruled
        if reason is not None
    ]


def _checked(tool: ListedTool, limits: SchemaLimits) -> Verdict:
    reason = tool.problem
    if reason is None and "inputSchema" in tool.definition:
        return check(tool.definition["inputSchema"], limits=limits)
    problem = SchemaProblem(pointer="", reason=reason or "it has no inputSchema at all", remedy=_REMEDY)
    return Verdict(schema=None, problems=(problem,), repairs=())


def _bad(tool: ListedTool, verdict: Verdict) -> SkippedTool:
    first, *others = verdict.problems
    more = "".join(f"; {problem.pointer or '/'}: {problem.reason}" for problem in others)
    return SkippedTool(
        server=tool.server,
        name=tool.name,
        reason=first.reason + more,
        pointer=f"/inputSchema{first.pointer}",
        remedy=first.remedy or _REMEDY,
    )


def _load_error(bad: Sequence[SkippedTool]) -> ToolboxLoadError:
    lines = [f"{len(bad)} of the servers' tools cannot be used:"]
    lines += [
        f"  server {tool.server!r}, tool {tool.name!r}, at {tool.pointer or '/'}: {tool.reason}"
        for tool in bad
    ]
    lines += [f"  what to do: {remedy}" for remedy in dict.fromkeys(tool.remedy for tool in bad)]
    return ToolboxLoadError("\n".join(lines), tools=tuple(bad))


def _drifts(
    lock: Lock | None, tools: Sequence[ListedTool], listings: Sequence[Listing], on_drift: OnDrift
) -> tuple[Drift, ...]:
    if lock is None:
        return ()
    listed = {listing.server: {tool.name for tool in listing.tools} for listing in listings}
    drifts = find_drifts(lock, tools, listed=listed)
    if drifts and on_drift == "fail":
        lines = [f"{len(drifts)} tools are not what the lock file says:", *(f"  {drift}" for drift in drifts)]
        lines.append(f"  what to do: {_LOOK}, or open with on_drift='warn' or 'drop'")
        raise DriftError("\n".join(lines), drifts=drifts)
    return drifts


_LOOK = "look at the changes, then write the lock file again with: mcp-adapters lock"


def _dropped(drift: Drift) -> SkippedTool:
    return SkippedTool(
        server=drift.server,
        name=drift.name,
        reason="; ".join((", ".join(kind.replace("_", " ") for kind in drift.kinds), *drift.changes)),
        pointer="",
        remedy=_LOOK,
    )


def _left_out(tool: SkippedTool) -> str:
    return (
        f"tool {tool.name!r} of server {tool.server!r} is left out: at {tool.pointer or '/'}: {tool.reason}"
    )


def _repairs(good: Sequence[tuple[ListedTool, Verdict]]) -> list[str]:
    return [
        f"the schema of tool {tool.name!r} of server {tool.server!r} was repaired "
        f"at {repair.pointer or '/'}: {repair.reason}"
        for tool, verdict in good
        for repair in verdict.repairs
    ]


def _spec(
    tool: ListedTool, verdict: Verdict, exposed_name: str, dialect: Dialect, provider: ProviderProfile | None
) -> tuple[ToolSpec, ArgumentCodec]:
    definition = tool.definition
    annotations = read_annotations(definition)
    title = _text(definition.get("title")) or annotations.title
    description = _text(definition.get("description")) or title or tool.name
    projection = project(verdict.schema or {}, dialect)
    limit = provider.description_max if provider is not None else None
    output, meta = _object(definition.get("outputSchema")), _object(definition.get("_meta"))
    spec = ToolSpec(
        exposed_name=exposed_name,
        server=tool.server,
        remote_name=tool.name,
        title=title,
        description=with_note(description, projection.note, limit=limit),
        plain_description=shorten_description(description, limit) if projection.note else "",
        annotations=annotations,
        input_json=_json(definition["inputSchema"]),
        model_json=_json(projection.schema),
        dialect=dialect,
        strict=projection.strict,
        losses=projection.losses,
        output_json=None if output is None else _json(output),
        wraps_result=wraps_result(output, tool=tool.name),
        meta=meta or {},
    )
    return spec, ArgumentCodec(spec.input_json, projection.renames, projection.every_rename)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _object(value: Any) -> dict[str, Any] | None:
    return value if isinstance(value, dict) else None


def _text(value: Any) -> str | None:
    """The text without surrounding space, or None when there is nothing to read."""
    return (value.strip() or None) if isinstance(value, str) else None
