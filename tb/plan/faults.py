"""Faults of a run as short texts: kind, place and time. `tb.lab.faults` injects them at absolute times.

The form is `<kind>:<place>[:<number>[.<bit>]]@<us>[+<us>]`, separated by commas. `sram:metz:0xa010.5@41.5` flips bit 5
of byte 0xa010 in the SRAM of metz's NIC at 41.5 us. `stick:metz.0:0x10f@41.5+2` replaces all characters that arrive at
metz for 2 us.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from pymodels.config import Cluster
from pymodels.config.model import CARDS
from pymodels.errors import ConfigError, nearest
from pymodels.topology import TopologyError

US = 1_000_000
"""Picoseconds in a microsecond."""


@dataclass(frozen=True)
class Kind:
    """Kind of fault."""

    does: str
    layer: str
    """Part of the system: link, pci, nic, host or firmware."""
    number: int = 0
    """Maximum number plus one; 0 if the kind takes no number."""
    bits: int = 0
    """Number of bits of the numbered object; 0 if the kind takes no bit."""
    least: int = 0
    lasts: bool = False
    port: bool = False
    """True if the place is a port of a cable; false if it is a host."""
    card: bool = False
    """True if the number is that of a slot with a card beside the NIC's."""


KINDS = {
    "flip": Kind("xor of the arriving character; 0x100 exchanges data and control", "link", 512, 0, 1, True, True),
    "drop": Kind("arriving characters are lost", "link", lasts=True, port=True),
    "stick": Kind("all arriving characters are replaced by this one", "link", 512, lasts=True, port=True),
    "late": Kind("the cable's delay rises by so many us from then on", "link", 51, least=1, port=True),
    "dma_read": Kind("flip this bit of the next beat that the bus reads from host memory", "pci", 64),
    "dma_write": Kind("flip this bit of the next beat that the bus writes to host memory", "pci", 64),
    "store": Kind("flip this bit of the CPU's next store to a card", "pci", 64),
    "lost_store": Kind("the CPU's next store to a card, such as a doorbell, is lost", "pci"),
    "lost_interrupt": Kind("the next interrupt is lost", "pci"),
    "power": Kind("the card in this slot has no power for so many us, or for good", "pci", 4, 0, 1, True, card=True),
    "sram": Kind("flip a bit of a byte in the NIC's memory", "nic", 1 << 31, 8),
    "register_write": Kind("flip this bit of the NIC processor's next write to a special register", "nic", 32),
    "register_read": Kind("flip this bit of the NIC processor's next read of a special register", "nic", 32),
    "reset": Kind("the NIC is reset", "nic"),
    "memory": Kind("flip a bit of a byte in host memory", "host", 1 << 31, 8),
    "stop": Kind("the host's CPU stops for good", "host"),
    "variable": Kind("flip a bit of a variable of the Python firmware, by number", "firmware", 1 << 31, 32),
    "instruction": Kind("flip a bit of an executed instruction, by number", "firmware", 1 << 31, 32),
}
"""Kinds of faults by name."""
IN_PYTHON, IN_C = frozenset({"variable"}), frozenset({"instruction"})
"""Kinds that affect only firmware in Python, or only firmware in C."""
OF_CARDS = frozenset(name for name, kind in KINDS.items() if kind.card)
"""Kinds that affect only clusters with cards beside the NICs."""
FORM = re.compile(
    r"(\w+):([\w.-]+)(?::(0x[0-9a-fA-F]+|\d+)(?:\.(\d+))?)?@(\d+(?:\.\d+)?)(?:\+(\d+(?:\.\d+)?))?", re.ASCII
)


@dataclass(frozen=True)
class Fault:
    """Single fault. `number` is an address, value, bit or index, depending on the kind; `at_ps` is its start."""

    kind: str
    place: str
    at_ps: int
    number: int = 0
    bit: int = 0
    for_ps: int = 0

    def __str__(self) -> str:
        kind = KINDS[self.kind]
        number = f":{self.number:#x}" if kind.number > 64 else f":{self.number}" if kind.number else ""
        bit = f".{self.bit}" if kind.bits else ""
        lasts = f"+{_us(self.for_ps)}" if self.for_ps else ""
        return f"{self.kind}:{self.place}{number}{bit}@{_us(self.at_ps)}{lasts}"


def _us(ps: int) -> str:
    return f"{Decimal(ps) / US:f}"


def faults(text: str, cluster: Cluster) -> list[Fault]:
    """Return the faults of a setting. Raises ConfigError for an invalid text or an unknown place."""
    return [_fault(one, cluster) for one in text.split(",") if one]


def _fault(text: str, cluster: Cluster) -> Fault:
    found = FORM.fullmatch(text)
    if not found:
        form = "write <kind>:<place>[:<number>[.<bit>]]@<us>[+<us>], such as sram:metz:0xa010.5@41.5"
        raise ConfigError(
            "SET", 0, f"fault.inject: invalid fault {text!r}", "it does not have the form of a fault", form
        )
    name, place, number, bit, at, lasts = found.groups()
    if name not in KINDS:
        raise ConfigError("SET", 0, f"fault.inject: unknown kind {name!r}", f"in {text!r}", nearest(name, KINDS))
    kind = KINDS[name]
    _check_place(kind, place, cluster)
    value = int(number or "0", 0)
    _check(text, bool(number) == bool(kind.number), "takes a number" if kind.number else "takes no number")
    _check(text, not kind.number or kind.least <= value < kind.number, f"takes {kind.least} to {kind.number - 1}")
    _check(text, bool(bit) == bool(kind.bits), f"takes a bit below {kind.bits}" if kind.bits else "takes no bit")
    _check(text, not bit or int(bit) < kind.bits, f"has bits 0 to {kind.bits - 1}")
    _check(text, not lasts or kind.lasts, "has no duration")
    if kind.card:
        _check_card(text, cluster, place, value)
    return Fault(name, place, _ps(at), value, int(bit or "0"), _ps(lasts or "0"))


def _ps(us: str) -> int:
    return int(Decimal(us) * US)


def _check(text: str, holds: bool, says: str) -> None:
    if not holds:
        kind = text.partition(":")[0]
        raise ConfigError("SET", 0, f"fault.inject: {text!r}", f"{kind} {says}", f"{kind}: {KINDS[kind].does}")


def _check_card(text: str, cluster: Cluster, place: str, slot: int) -> None:
    """Raise ConfigError if a host has no card in a slot."""
    cards = cluster.hosts[cluster.names.index(place)].cards
    if CARDS[slot] not in cards:
        has = [f"{CARDS.index(card)} ({card})" for card in cards if CARDS.index(card)]
        wrong, cause = f"fault.inject: {text!r}", f"slot {slot} of {place} has no card"
        raise ConfigError("SET", 0, wrong, cause, f"slots with cards: {', '.join(has) or 'none'}")


def _check_place(kind: Kind, place: str, cluster: Cluster) -> None:
    if not kind.port and place not in cluster.names:
        remedy = nearest(place, cluster.names)
        raise ConfigError(
            "SET", 0, f"fault.inject: unknown host {place!r}", "the place of this fault is a host", remedy
        )
    if kind.port:
        try:
            cluster.topology.port(place)
        except TopologyError as error:
            raise ConfigError("SET", 0, f"fault.inject: {error.what}", error.cause, error.remedy) from None


def text_of(given: Sequence[Fault]) -> str:
    """Return the setting with these faults."""
    return ",".join(map(str, given))
