"""Give an expanded schema a plain object at its root.

In: an expanded schema. Out: an object with `properties` and without a union, and sentences about
what the union said. Arguments are always an object, so that being no other type loses nothing.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Protocol

from mcp_adapters.schema.merging import alternatives, is_never, merge, types_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp_adapters.schema.references import Schema

__all__ = ("Lose", "flatten_root", "tell_variants", "unite_objects")

_UNSHOWN = ("enum", "minProperties", "maxProperties")
_MOST_VARIANTS = 12


class Lose(Protocol):
    """Notes a loss at a schema."""

    def __call__(self, schema: Schema, keyword: str, reason: str, *, narrows: bool = False) -> None:
        """Note that a schema's keyword is not said as the server says it."""
        ...


def flatten_root(root: Schema, *, lose: Lose, origin: Schema) -> tuple[Schema, tuple[str, ...]]:
    """Make the root an object with `properties`.

    Args:
        root: The expanded root.
        lose: Told what the result does not say.
        origin: The root as the server sent it, for `lose`.

    Returns:
        The root, and sentences for the tool's description.

    """
    branches = [branch for branch in root.get("anyOf", ()) if "object" in (types_of(branch) or ("object",))]
    base = {key: value for key, value in root.items() if key != "anyOf" and not is_never(root)}
    told: list[str] = []
    if len(branches) == 1:
        base = merge(base, branches[0], drop=lambda keyword: lose(origin, keyword, "shown in part"))
        return flatten_root(base, lose=lose, origin=origin)
    if branches:
        told.append(f"The arguments take {tell_variants(branches)}.")
        lose(origin, "anyOf", "the variants are shown as one object")
        base = unite_objects(base, branches, lose=lose, origin=origin)
    for keyword in _UNSHOWN:
        if keyword in base:
            lose(origin, keyword, "left to the server")
    if description := base.get("description"):
        told.insert(0, description)
    if base.get("additionalProperties") is False:
        lose(origin, "additionalProperties", "models are not told that other arguments are refused")
    if isinstance(base.get("additionalProperties"), dict):
        told.append(
            f"Further arguments may be given, each of the form {_brief(base['additionalProperties'])}."
        )
        lose(origin, "additionalProperties", "the form of further arguments is in the description")
    plain = {key: value for key, value in base.items() if key not in _UNSHOWN}
    return {**plain, "type": "object", "properties": base.get("properties", {})}, tuple(told)


def unite_objects(base: Schema, branches: list[Schema], *, lose: Lose, origin: Schema) -> Schema:
    """Make one object that takes what any of its variants takes.

    Args:
        base: What holds for all variants.
        branches: The variants, at least one, each an object.
        lose: Told where the result takes less.
        origin: The schema for `lose`.

    """
    own = base.get("properties", {})
    names = dict.fromkeys(name for branch in branches for name in branch.get("properties", {}))
    shown = dict(own)
    for name in names:
        having = [branch for branch in branches if name in branch.get("properties", {})]
        union = alternatives(branch["properties"][name] for branch in having)
        shown[name] = merge(own[name], union, drop=lambda _: None) if name in own else union
        open_elsewhere = any(
            branch.get("additionalProperties") is not False for branch in branches if branch not in having
        )
        if open_elsewhere and name not in own and union:
            reason = f"{name!r} as in the forms that name it"
            lose(origin, "anyOf", reason, narrows=True)
    common = [
        name
        for name in branches[0].get("required", ())
        if all(name in branch.get("required", ()) for branch in branches)
    ]
    required = list(dict.fromkeys([*base.get("required", ()), *common]))
    closed = base.get("additionalProperties") is False or all(
        branch.get("additionalProperties") is False for branch in branches
    )
    united = {**base, "properties": shown, "required": required}
    return united | ({"additionalProperties": False} if closed else {})


def tell_variants(branches: list[Schema]) -> str:
    """Say which properties come together, as the end of a sentence."""
    shown = [_variant(branch) for branch in branches[:_MOST_VARIANTS]]
    more = f" | {len(branches) - _MOST_VARIANTS} more" if len(branches) > _MOST_VARIANTS else ""
    return f"one of these forms: {' | '.join(dict.fromkeys(shown))}{more}"


def _variant(branch: Schema) -> str:
    properties = branch.get("properties", {})
    required = branch.get("required", ())
    names = [_argument(name, properties.get(name, {})) for name in required]
    names += [f"[{name}]" for name in properties if name not in required]
    return ", ".join(names[:20]) or "anything"


def _argument(name: str, form: Mapping[str, Any]) -> str:
    values = form.get("enum", ())
    return f"{name}={json.dumps(values[0])[:60]}" if len(values) == 1 else name


def _brief(form: Schema) -> str:
    text = json.dumps(form, ensure_ascii=False)
    return text if len(text) <= 200 else " or ".join(types_of(form)) or "any value"
