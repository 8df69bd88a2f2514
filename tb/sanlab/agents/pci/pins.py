"""Shared wires of a PCI bus, and the drives of one agent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pymodels.pci.rules import Sample

CONTROLS = ("frame", "irdy", "trdy", "devsel", "stop", "req64", "ack64", "perr", "serr")
"""Active-low wires that agents assert and release."""
WIDE = ("par64", "req64_n", "ack64_n")
"""Wires that only a 64-bit bus has."""
Drives = Mapping[str, tuple[int, int]]
"""Value and mask of driven bits, by wire."""
Levels = dict[str, int]
"""Level of each wire as an integer."""


def wire_bits(width: int) -> dict[str, int]:
    """Return the number of bits of each shared wire of a bus of 32 or 64 bits."""
    bits = {"ad": width, "cbe": width // 8, "par": 1, "par64": 1, **{f"{name}_n": 1 for name in CONTROLS}}
    return {name: count for name, count in bits.items() if width == 64 or name not in WIDE}


@dataclass(slots=True)
class BusSample(Sample):
    """Wires at one rising clock edge; signals are True when asserted."""

    perr: bool = False
    serr: bool = False
    first: bool = False
    """True at the edge of an address phase."""


def sample_of(levels: Levels, previous: Sample, gnt: int, req: int, conflict: bool) -> BusSample:
    """Return the sample of resolved levels."""
    controls = {name: not levels.get(f"{name}_n", 1) for name in CONTROLS}
    wide = "par64" in levels
    return BusSample(
        ad=levels["ad"] if wide else levels["ad"] | 0xFFFF_FFFF << 32,
        cbe=levels["cbe"] if wide else levels["cbe"] | 0xF0,
        par=levels["par"],
        par64=levels.get("par64", 1),
        gnt=gnt,
        req=req,
        conflict=conflict,
        first=controls["frame"] and not previous.frame,
        **controls,
    )


def parity(ad: int, cbe: int) -> int:
    """Return the even parity over 32 bits of AD and 4 bits of C/BE#."""
    return (ad & 0xFFFF_FFFF).bit_count() + (cbe & 0xF).bit_count() & 1


def resolve(drives: Iterable[Drives], bits: Mapping[str, int]) -> tuple[Levels, bool]:
    """Resolve what several agents drive.

    Args:
        drives: Drives of each agent.
        bits: Bits of each wire; undriven bits are pulled up.

    Returns:
        Level of each wire, and True if two agents drive one bit. SERR# is an open drain, which several may drive.
    """
    values, known, conflict = dict.fromkeys(bits, 0), dict.fromkeys(bits, 0), False
    for agent in drives:
        for name, (value, mask) in agent.items():
            if name == "serr_n":
                mask &= ~value  # noqa: PLW2901  # an open drain does not drive a 1
            conflict |= bool(mask & known[name]) and name != "serr_n"
            values[name] |= value & mask & ~known[name]
            known[name] |= mask
    return {name: values[name] | ~known[name] & (1 << count) - 1 for name, count in bits.items()}, conflict


class Pins:
    """Wires driven by one agent, as sampled at the next clock edge.

    PAR and PAR64 follow AD by a clock without the agent's doing.

    Args:
        bits: Bits of each wire of the bus.
    """

    def __init__(self, bits: Mapping[str, int]) -> None:
        self.drives: dict[str, tuple[int, int]] = {}
        self.flip_parity = False
        """True to drive the wrong parity of what is now on AD."""
        self._bits = bits
        self._finishing: set[str] = set()
        self._expiring: set[str] = set()

    def data(self, ad: int, wide: bool) -> None:
        """Drive AD, 64 bits if `wide`, else the lower 32 bits."""
        self.drives["ad"] = ad, (1 << (64 if wide else 32)) - 1

    def command(self, cbe: int, wide: bool = False) -> None:
        """Drive C/BE#, 8 bits if `wide`, else the lower 4 bits."""
        self.drives["cbe"] = cbe, 0xFF if wide else 0xF

    def activate(self, *names: str) -> None:
        """Assert control wires."""
        self._set(names, 0)

    def deactivate(self, *names: str) -> None:
        """Drive control wires to their inactive level."""
        self._set(names, 1)

    def finish(self, *names: str) -> None:
        """Deassert control wires that are driven, for one clock, then release them (sustained tri-state)."""
        owned = [name for name in names if f"{name}_n" in self.drives]
        self._set(owned, 1)
        self._finishing |= {f"{name}_n" for name in owned}

    def release(self, *wires: str) -> None:
        """Stop driving wires at once."""
        for wire in wires:
            self.drives.pop(wire, None)

    def clear(self) -> None:
        """Stop driving all wires at once."""
        self.drives.clear()

    def advance(self) -> None:
        """Release the wires that have been deasserted for a clock."""
        self.release(*self._expiring)
        self._expiring, self._finishing = self._finishing, set()

    def follow(self, levels: Levels) -> None:
        """Drive the parity of AD and C/BE# for the next clock, if this agent drives AD."""
        _, mask = self.drives.get("ad", (0, 0))
        for name, low in (("par", 0), ("par64", 32)):
            if mask >> low & 1:
                value = parity(levels["ad"] >> low, levels["cbe"] >> low // 8) ^ self.flip_parity
                self.drives[name] = value, 1
            else:
                self.release(name)

    def _set(self, names: Iterable[str], level: int) -> None:
        for name in names:
            wire = f"{name}_n"
            if wire in self._bits:
                self.drives[wire] = level, 1
                self._finishing.discard(wire)
                self._expiring.discard(wire)
