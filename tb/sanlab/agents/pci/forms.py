"""Forms in which a design has the wires of a PCI bus: split into input, output and enable; nets; or resolved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from cocotb.triggers import Timer

from pymodels.errors import SanlabError
from tb.agents.wires import MissingWiresError

from .pins import Drives, Levels, resolve, wire_bits

NEEDED = ("ad", "cbe", "par", "frame_n", "irdy_n", "trdy_n", "devsel_n", "stop_n")
"""Wires that every form needs."""
ROUNDS = 8
"""Limit of the evaluations in one clock, for outputs that depend on inputs without a register."""


def integer(handle: Any, unknown: str = "1") -> int:
    """Return the value of a handle; bits that are neither 0 nor 1 are `unknown`."""
    value = handle.value
    try:
        return int(value)
    except ValueError:
        return int("".join(bit if bit in "01" else unknown for bit in str(value)), 2)


class Form(Protocol):
    """Access to the wires of one design."""

    width: int
    bits: dict[str, int]
    drivable: bool

    async def settle(self, agents: Iterable[Drives]) -> tuple[Levels, bool]:
        """Put the drives of the agents on the wires and return the levels, and True for a conflict."""


def find_form(entity: Any, prefix: str) -> Form:
    """Return the form of the wires `<prefix>_<wire>` of an entity.

    Raises:
        MissingWiresError: The entity has no form completely; the message names the missing wires.
        SanlabError: AD has neither 32 nor 64 bits.
    """
    start = f"{prefix}_" if prefix else ""
    if hasattr(entity, f"{start}ad_i") or hasattr(entity, f"{start}ad_o"):
        return SplitForm(entity, start)
    if hasattr(entity, f"{start}ad_seen"):
        return NetForm(entity, start)
    if hasattr(entity, f"{start}ad"):
        return ResolvedForm(entity, start)
    split = ", ".join(f"{start}ad_{end}" for end in ("i", "o", "oe"))
    raise MissingWiresError(
        f"{entity._name}: missing wires {split}; the agent binds these, or those of pci_nets, or resolved wires "
        f"{start}ad, ..."
    )


def _handles(entity: Any, names: Mapping[str, str]) -> dict[str, Any]:
    """Return the handles of the wires that exist, by wire."""
    return {wire: entity[name] for wire, name in names.items() if hasattr(entity, name)}


def _width(entity: Any, handle: Any) -> int:
    width = len(handle)
    if width not in {32, 64}:
        raise SanlabError(f"{entity._name}", f"AD has {width} bits", "a PCI bus has 32 or 64")
    return width


class SplitForm:
    """Wires of a design without tri-states: inputs `<wire>_i`, outputs `<wire>_o` with active-high enables `<wire>_oe`.

    An enable has one bit, one for each 32 bits of AD or 4 of C/BE#, or one for each bit.
    """

    drivable = True

    def __init__(self, entity: Any, start: str) -> None:
        names = wire_bits(64)
        self._inputs = _handles(entity, {name: f"{start}{name}_i" for name in names})
        self._outputs = _handles(entity, {name: f"{start}{name}_o" for name in names})
        self._enables = _handles(entity, {name: f"{start}{name}_oe" for name in self._outputs})
        absent = [f"{start}{name}_i" for name in NEEDED if name not in {*self._inputs, *self._outputs}]
        absent += [f"{start}{name}_oe" for name in self._outputs if name not in self._enables]
        if absent:
            found = ", ".join(f"{start}{name}_i" for name in NEEDED)
            raise MissingWiresError(f"{entity._name}: missing wires {', '.join(absent)}; the agent binds {found}, ...")
        self.width = _width(entity, {**self._outputs, **self._inputs}["ad"])
        self.bits = wire_bits(self.width)
        for name in set(names) - set(self.bits):  # a 32-bit design may have wires of the 64-bit extension
            self._outputs.pop(name, None)
            if name in self._inputs:
                self._inputs.pop(name).value = 1
        self._shown: Levels = {}

    async def settle(self, agents: Iterable[Drives]) -> tuple[Levels, bool]:
        """Resolve agents and design, and repeat while outputs of the design follow its inputs."""
        given = list(agents)
        for _ in range(ROUNDS):
            levels, conflict = resolve([*given, self._driven()], self.bits)
            if levels == self._shown:
                return levels, conflict
            for name, handle in self._inputs.items():
                if levels[name] != self._shown.get(name):
                    handle.value = levels[name]
            self._shown = levels
            await Timer(1, unit="step")
        raise SanlabError("PCI wires", f"unstable after {ROUNDS} evaluations", "break the combinational loop")

    def _driven(self) -> Drives:
        """Return what the design drives; unknown enables are off."""
        driven = {}
        for name, handle in self._outputs.items():
            enable = self._enables[name]
            on = integer(enable, "0")
            if on:
                each = self.bits[name] // len(enable)
                part = (1 << each) - 1
                mask = sum(part << each * at for at in range(len(enable)) if on >> at & 1)
                driven[name] = integer(handle), mask
        return driven


class NetForm:
    """Nets behind an instance of `pci_nets`: `<wire>_drive`, `<wire>_enable` and `<wire>_seen`."""

    drivable = True

    def __init__(self, entity: Any, start: str) -> None:
        self.width = _width(entity, entity[f"{start}ad_seen"])
        self.bits = wire_bits(self.width)
        self._seen = {name: entity[f"{start}{name}_seen"] for name in self.bits}
        self._drives = {name: entity[f"{start}{name}_drive"] for name in self.bits}
        self._enables = {name: entity[f"{start}{name}_enable"] for name in self.bits}
        self._written: dict[str, tuple[int, int]] = {}

    async def settle(self, agents: Iterable[Drives]) -> tuple[Levels, bool]:
        """Drive the nets and return their levels; a driven bit that has another level is a conflict."""
        given = list(agents)
        _, conflict = resolve(given, self.bits)
        joined = {name: self._joined(given, name) for name in self.bits}
        for name, (value, mask) in joined.items():
            if self._written.get(name) != (value, mask):
                self._drives[name].value, self._enables[name].value = value, mask
        self._written = joined
        await Timer(1, unit="step")
        levels = {name: integer(handle) for name, handle in self._seen.items()}
        for name, (value, mask) in joined.items():
            unknown = levels[name] ^ integer(self._seen[name], "0") if mask else 0
            conflict |= bool((levels[name] ^ value | unknown) & mask) and name != "serr_n"
        return levels, conflict

    def _joined(self, given: Iterable[Drives], name: str) -> tuple[int, int]:
        value = mask = 0
        for drives in given:
            one, bits = drives.get(name, (0, 0))
            bits &= ~one if name == "serr_n" else -1
            value, mask = value | one & bits, mask | bits
        return value, mask


class ResolvedForm:
    """Resolved wires, which agents sample and cannot drive: for monitors."""

    drivable = False

    def __init__(self, entity: Any, start: str) -> None:
        names = {name: f"{start}{name}" for name in wire_bits(64)}
        self._wires = _handles(entity, names)
        absent = [names[name] for name in NEEDED if name not in self._wires]
        if absent:
            raise MissingWiresError(
                f"{entity._name}: missing wires {', '.join(absent)}; the agent binds {', '.join(names.values())}"
            )
        self.width = _width(entity, self._wires["ad"])
        self.bits = wire_bits(self.width)
        self._conflict = entity[f"{start}conflict"] if hasattr(entity, f"{start}conflict") else None

    async def settle(self, agents: Iterable[Drives]) -> tuple[Levels, bool]:
        """Return the levels."""
        levels = {
            name: integer(self._wires[name]) if name in self._wires else (1 << count) - 1
            for name, count in self.bits.items()
        }
        return levels, self._conflict is not None and bool(integer(self._conflict))
