"""Give out names over all tools, and find the way back.

In: identities, a policy, and the names given earlier. Out: one legal name for each tool. The rules
stand at the top of the package. Nothing here looks into a name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from mcp_adapters.errors import ConfigError, ToolboxLoadError, ToolNotFoundError
from mcp_adapters.filtering import closest_names, folded_name
from mcp_adapters.naming.spelling import Identity, Spell, Speller
from mcp_adapters.spec import SkippedTool

if TYPE_CHECKING:
    from mcp_adapters.naming.policy import NamePolicy

__all__ = ("Names", "assign_names", "rename_map")

_Wishes: TypeAlias = Mapping[str, Sequence[tuple[Identity, bool]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """Which tool has which name."""

    exposed: Mapping[Identity, str]
    """The name of each tool that is there, in listing order."""
    given: Mapping[Identity, str]
    """As `exposed`, and the names of tools that are gone: the `kept` of the next assignment."""
    skipped: tuple[SkippedTool, ...] = ()
    """The tools that got no name, in listing order; only with `on_duplicate="keep_first"`."""
    warnings: tuple[str, ...] = ()
    """One sentence for each tool in `skipped` and for each that was listed more than once."""
    sources: Mapping[str, Identity] = field(init=False, compare=False, repr=False)
    """The way back: the tool of each name in `exposed`."""

    def __post_init__(self) -> None:
        back = {name: identity for identity, name in self.exposed.items()}
        object.__setattr__(self, "sources", back)

    def find(self, name: str) -> Identity:
        """Find the tool that a model means.

        Args:
            name: As the model wrote it. Where no tool has exactly that name, `-` and `_` and
                upper and lower case are taken for the same, if that leaves exactly one tool. The
                name of a tool that is gone is never taken for another's.

        Raises:
            ToolNotFoundError: No tool, or more than one; `closest` has the candidates.

        """
        found = self.sources.get(name)
        if found is not None:
            return found
        if name in self.given.values():
            raise ToolNotFoundError(f"the tool {name!r} is no longer offered by its server")
        wanted = folded_name(name)
        alike = sorted(known for known in self.sources if folded_name(known) == wanted)
        if len(alike) == 1:
            return self.sources[alike[0]]
        raise _not_found(name, tuple(alike) or closest_names(name, self.sources), ambiguous=bool(alike))


def _not_found(name: str, closest: tuple[str, ...], *, ambiguous: bool) -> ToolNotFoundError:
    shown = ", ".join(map(repr, closest))
    if ambiguous:
        message = f"the tool name {name!r} could mean any of {shown}; use one of them exactly"
    elif closest:
        message = f"there is no tool {name!r}; did you mean {shown}?"
    else:
        message = f"there is no tool {name!r}, and none with a similar name"
    return ToolNotFoundError(message, closest=closest)


def assign_names(
    tools: Iterable[Identity], policy: NamePolicy, *, kept: Mapping[Identity, str] | None = None
) -> Names:
    """Give each tool its name, by the rules at the top of this module.

    Args:
        tools: What the servers list. The order counts only for `on_duplicate="keep_first"`.
        policy: How names are made.
        kept: The `given` of an earlier assignment with the same policy; None at the first.

    Returns:
        Legal names, each of one tool. The time grows with the number of tools, not faster.

    Raises:
        ToolboxLoadError: `on_duplicate` is "error" and tools want one name; all of them are listed.
        ConfigError: `kept` breaks the policy or gives one name to two tools.

    """
    listed = Counter(tools)
    book = _Book(policy, kept or {}, listed)
    speller = Speller(policy)
    *earlier, last = speller.plain_rounds()
    for spell in earlier:
        book.settle(book.wishes(spell))
    skipped = book.settle_last(book.wishes(last))
    for spell in speller.hash_rounds():
        if not book.waiting:
            break
        book.settle(book.wishes(spell))
    repeated = (_repeated(identity, count) for identity, count in listed.items() if count > 1)
    left_out = (
        f"tool {tool.name!r} of server {tool.server!r} was left out: {tool.reason}" for tool in skipped
    )
    return Names(
        exposed={identity: book.given[identity] for identity in listed if identity in book.given},
        given=book.given,
        skipped=skipped,
        warnings=(*repeated, *left_out),
    )


def _repeated(identity: Identity, count: int) -> str:
    server, tool = identity
    return f"server {server!r} lists {tool!r} {count} times; all of them have one name"


class _Book:
    """Which names are out, while the others are being decided in rounds.

    Each round looks at all waiting tools at once, so that their order means nothing.
    """

    def __init__(
        self, policy: NamePolicy, kept: Mapping[Identity, str], present: Collection[Identity]
    ) -> None:
        _check_kept(kept, policy)
        self.given = dict(kept)
        self.waiting = [identity for identity in present if identity not in kept]
        self._on_duplicate = policy.on_duplicate
        self._taken = {*kept.values(), *policy.reserved}
        self._holders = {kept[identity]: identity for identity in present if identity in kept}

    def wishes(self, spell: Spell) -> _Wishes:
        """Group the waiting tools by the name that they want, each group in listing order."""
        wanted: dict[str, list[tuple[Identity, bool]]] = {}
        for identity in self.waiting:
            spelling = spell(identity)
            wanted.setdefault(spelling.name, []).append((identity, spelling.unchanged))
        return wanted

    def settle(self, wanted: _Wishes, *, first_wins: bool = False) -> None:
        """Give out the names that are free and have a winner; all wanted names are used up."""
        for name, wanting in wanted.items():
            winner = wanting[0][0] if first_wins else _winner(wanting)
            if winner is not None and name not in self._taken:
                self.given[winner] = name
                self._holders[name] = winner
        self._taken.update(wanted)
        self.waiting = [identity for identity in self.waiting if identity not in self.given]

    def settle_last(self, wanted: _Wishes) -> tuple[SkippedTool, ...]:
        """Settle the last round without hashes, where a clash is a duplicate.

        Returns the tools that are left out for it.
        """
        if self._on_duplicate == "error":
            self._refuse_duplicates(wanted)
        if self._on_duplicate != "keep_first":
            self.settle(wanted)
            return ()
        self.settle(wanted, first_wins=True)
        names = {identity: name for name, wanting in wanted.items() for identity, _ in wanting}
        late = [identity for identity in self.waiting if names[identity] in self._holders]
        self.waiting = [identity for identity in self.waiting if names[identity] not in self._holders]
        return tuple(_late(identity, names[identity], self._holders[names[identity]]) for identity in late)

    def _refuse_duplicates(self, wanted: _Wishes) -> None:
        clashes = {name: self._claimants(name, wanting) for name, wanting in wanted.items()}
        clashes = {name: claimants for name, claimants in clashes.items() if len(claimants) > 1}
        if clashes:
            raise _duplicates(clashes)

    def _claimants(self, name: str, wanting: Sequence[tuple[Identity, bool]]) -> list[Identity]:
        holder = [self._holders[name]] if name in self._holders else []
        return sorted([*holder, *(identity for identity, _ in wanting)])


def _winner(wanting: Sequence[tuple[Identity, bool]]) -> Identity | None:
    if len(wanting) == 1:
        return wanting[0][0]
    unchanged = [identity for identity, is_unchanged in wanting if is_unchanged]
    return unchanged[0] if len(unchanged) == 1 else None


def _check_kept(kept: Mapping[Identity, str], policy: NamePolicy) -> None:
    rule = policy.rule
    owners: dict[str, Identity] = {}
    for identity, name in kept.items():
        if not rule.allows(name) or name in policy.reserved:
            raise ConfigError(f"the kept name {name!r} of {_id(identity)!r} is not legal under this policy")
        if owners.setdefault(name, identity) != identity:
            raise ConfigError(
                f"the kept name {name!r} is given to {_id(owners[name])!r} and {_id(identity)!r}"
            )


def _id(identity: Identity) -> str:
    return ":".join(identity)


def _late(identity: Identity, name: str, holder: Identity) -> SkippedTool:
    server, tool = identity
    return SkippedTool(
        server=server,
        name=tool,
        reason=f"its name {name!r} is already that of {_id(holder)!r}",
        remedy='leave one of them out with a filter, or use on_duplicate="rename"',
    )


def _duplicates(clashes: Mapping[str, Sequence[Identity]]) -> ToolboxLoadError:
    lines = [
        f"  {name!r} is wanted by {', '.join(repr(_id(identity)) for identity in clashes[name])}"
        for name in sorted(clashes)
    ]
    advice = 'use on_duplicate="rename" or prefix="always", or leave tools out with a filter'
    refused = tuple(
        SkippedTool(server=server, name=tool, reason=f"other tools want its name {name!r} too", remedy=advice)
        for name in sorted(clashes)
        for server, tool in clashes[name]
    )
    return ToolboxLoadError("\n".join(["several tools want one name:", *lines, advice]), tools=refused)


def rename_map(old: Names, new: Names) -> dict[str, str]:
    """Map names in stored conversations to the names that the same tools have now.

    Args:
        old: The names under which the conversation was stored.
        new: The names of today, perhaps by another policy or for another provider.

    Returns:
        Old name to new name, for every tool that still has a name and has another one.

    """
    return {
        name: new.given[identity]
        for identity, name in old.given.items()
        if identity in new.given and new.given[identity] != name
    }
