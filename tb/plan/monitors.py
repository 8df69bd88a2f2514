"""Monitors of a run by kind: the words of SET run.monitors (tb/monitors/README.md)."""

from __future__ import annotations

from pymodels.errors import ConfigError, nearest

MONITORS = "run.monitors"
KINDS = {
    "pci": "transactions on the PCI buses of each host",
    "dma": "transfers of each NIC's host DMA",
    "doorbell": "stores of each host to the doorbells of its NIC",
    "sram": "accesses of the SRAM of each NIC",
    "link": "packets that arrive at each host and at each port of a switch",
}
"""Objects that each kind of monitor observes."""


def monitor_kinds(text: str) -> tuple[str, ...]:
    """Return the kinds of monitors in a text such as `pci,link`. Raises ConfigError for an unknown kind."""
    kinds = tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
    for kind in kinds:
        if kind not in KINDS:
            raise ConfigError("SET", 0, MONITORS, f"unknown kind of monitor {kind!r}", nearest(kind, KINDS))
    return kinds


def check_monitors(text: str, cluster: bool, doorbells: bool, sram: bool) -> None:
    """Raise ConfigError for an unknown kind, or for one that observes nothing.

    Args:
        text: Value of `run.monitors`.
        cluster: True if the study runs on a cluster.
        doorbells: True if the NICs have doorbells.
        sram: True if the SRAM of the NICs has a monitor.
    """
    kinds = monitor_kinds(text)
    if "doorbell" in kinds and not doorbells:
        remedy = "leave `doorbell` out, or choose a profile with doorbells"
        raise ConfigError("SET", 0, MONITORS, "the NICs of this profile have no doorbells", remedy)
    if "sram" in kinds and not sram:
        remedy = "leave `sram` out, or choose a profile whose NIC has an SRAM with an arbiter"
        raise ConfigError("SET", 0, MONITORS, "the NICs of this profile have no monitor of their SRAM", remedy)
    if kinds and not cluster:
        remedy = "leave it out, or choose a study that runs on a cluster"
        raise ConfigError("SET", 0, MONITORS, "the study has no hosts and no links", remedy)
