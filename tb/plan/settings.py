"""A profile as run-time settings of the RTL: which key of the profile fills which port."""

from __future__ import annotations

from pymodels.profiles import Profile
from pymodels.settings import Setting


def link_settings(profile: Profile) -> dict[int, int]:
    """What every link port needs."""
    names = ("slack", "stop_mark", "go_mark", "refresh", "short_timeout", "long_timeout", "beat_period")
    return {int(Setting[name.upper()]): profile.integer(f"link.{name}") for name in names}


def switch_settings(profile: Profile) -> dict[int, int]:
    """What a switch needs beside its cables."""
    return link_settings(profile) | profile.nic.network.switch_settings(profile)


_BRIDGE = {
    Setting.BRIDGE_LATENCY_TIMER: "bridge.latency_timer",
    Setting.BRIDGE_START_DELAY: "bridge.start_delay",
    Setting.POST_DEPTH: "bridge.post_depth",
    Setting.WC_BYTES: "bridge.wc_bytes",
    Setting.READ_RETURN: "bridge.read_return",
    Setting.UP_DEVSEL: "bridge.up_devsel",
    Setting.UP_WRITE_INITIAL: "bridge.up_write_initial",
    Setting.UP_READ_INITIAL: "bridge.up_read_initial",
    Setting.UP_SUBSEQUENT: "bridge.up_subsequent",
    Setting.UP_READ_WAIT: "bridge.up_read_wait",
    Setting.UP_STALL_LIMIT: "bridge.up_stall_limit",
    Setting.UP_MAX_PHASES: "bridge.up_max_phases",
    Setting.IN_BUFFER: "bridge.in_buffer",
    Setting.DRAIN_NUM: "bridge.drain_num",
    Setting.DRAIN_DEN: "bridge.drain_den",
    Setting.READ_LATENCY: "bridge.read_latency",
    Setting.EXTRA_NUM: "bridge.extra_num",
    Setting.EXTRA_DEN: "bridge.extra_den",
    Setting.CARD_LATENCY_TIMER: "pci.latency_timer",
    Setting.CARD_MAX_BURST: "pci.max_burst",
    Setting.CARD_START_DELAY: "pci.start_delay",
    Setting.CARD_IRDY_WAIT: "pci.irdy_wait",
    Setting.CARD_LINE_BYTES: "pci.line_bytes",
    Setting.CARD_DEVSEL: "pci.devsel",
    Setting.CARD_WRITE_INITIAL: "pci.write_initial",
    Setting.CARD_READ_INITIAL: "pci.read_initial",
    Setting.CARD_SUBSEQUENT: "pci.subsequent",
    Setting.CARD_READ_WAIT: "pci.read_wait",
    Setting.CARD_STALL_LIMIT: "pci.stall_limit",
    Setting.CARD_MAX_PHASES: "pci.max_phases",
    Setting.CARD_DISCARD: "pci.discard",
}


_FPGA = {
    Setting.FPGA_START_DELAY: "fpga.start_delay",
    Setting.FPGA_WRITE_INITIAL: "fpga.write_initial",
    Setting.FPGA_READ_INITIAL: "fpga.read_initial",
    Setting.FPGA_LINGER: "fpga.linger",
    Setting.FPGA_PATIENCE: "fpga.patience",
    Setting.FPGA_PAUSE: "fpga.pause",
}
FAST_PS, SLOW_PS = 15_000, 30_000
"""Periods of the PCI bus at 66 and 33 MHz."""


def pci_period(profile: Profile, has_fpga: bool) -> int:
    """Period of a node's PCI bus in ps: the profile's, or that of the slowest card on it (readings A11)."""
    beside = has_fpga and not profile.flag("fpga.bridge")
    return card_period(profile) if beside else profile.integer("clock.pci_ps")


def card_period(profile: Profile) -> int:
    """Period in ps of the PCI bus on which the FPGA card stands, before or behind a bridge."""
    own = profile.integer("clock.pci_ps")
    return max(own, SLOW_PS) if profile.integer("fpga.mhz") < 66 else own


def fpga_settings(profile: Profile) -> dict[int, int]:
    """What a node with an FPGA card needs beside `node_settings`."""
    slow = pci_period(profile, True) > FAST_PS
    return {int(setting): profile.integer(key) for setting, key in _FPGA.items()} | {
        int(Setting.FPGA_WIDE): int(profile.integer("fpga.width") == 64),
        int(Setting.FPGA_M66): int(profile.integer("fpga.mhz") >= 66),
        int(Setting.PCI_M66): int(not slow),
    }


def node_settings(profile: Profile) -> dict[int, int]:
    """What a node needs: link, PCI segment, NIC."""
    values = {int(setting): profile.integer(key) for setting, key in _BRIDGE.items()}
    values |= {
        int(Setting.PCI_WIDE): int(profile.integer("pci.width") == 64),
        int(Setting.PCI_M66): int(profile.integer("clock.pci_ps") < 30_000),
        int(Setting.MEM_LOG2): (profile.integer("memory.bytes") - 1).bit_length(),
    }
    return link_settings(profile) | values | profile.nic.settings(profile)
