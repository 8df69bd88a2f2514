"""Handles of the wires of an entity by prefix, with all missing wires in one error."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


class MissingWiresError(AttributeError):
    """Missing wires of an entity that an agent binds."""


def require(entity: Any, prefix: str, wires: Iterable[str]) -> dict[str, Any]:
    """Return the handles of the wires `<prefix>_<wire>` of an entity, by wire.

    Args:
        entity: Handle of the entity.
        prefix: Prefix of the wires; empty for wires without prefix and underscore.
        wires: Names after the prefix.

    Raises:
        MissingWiresError: One or more wires are missing; the message names all of them.
    """
    names = {wire: f"{prefix}_{wire}" if prefix else wire for wire in wires}
    absent = [name for name in names.values() if not hasattr(entity, name)]
    if absent:
        binds = ", ".join(names.values())
        raise MissingWiresError(f"{entity._name}: missing wires {', '.join(absent)}; the agent binds {binds}")
    return {wire: entity[name] for wire, name in names.items()}
