"""Conversion of a profile to run-time settings of the RTL."""

from __future__ import annotations

from pymodels.cards import SLOT
from pymodels.profiles import Profile
from pymodels.settings import BRIDGE, FPGA, LINK, MASTER, TARGET, Bundle, Setting


def from_profile(profile: Profile, bundle: Bundle) -> dict[int, int]:
    """Return the settings of a bundle, without nested bundles, that come from a profile value."""
    return {int(setting): profile.integer(setting.source) for setting in bundle.settings if setting.source}


def link_settings(profile: Profile) -> dict[int, int]:
    """Return the settings of a link port."""
    return from_profile(profile, LINK)


def switch_settings(profile: Profile) -> dict[int, int]:
    """Return the settings of a switch, without those of its cables."""
    return link_settings(profile) | profile.nic.network.switch_settings(profile)


FAST_PS, SLOW_PS = 15_000, 30_000
"""Periods of the PCI bus at 66 and 33 MHz."""


def pci_period(profile: Profile, has_fpga: bool, has_io: bool = False) -> int:
    """Return the period of a node's PCI bus in ps: the profile's, or that of the slowest card (readings A11)."""
    if has_io:
        return max(profile.integer("clock.pci_ps"), SLOW_PS)
    beside = has_fpga and not profile.flag("fpga.bridge")
    return card_period(profile) if beside else profile.integer("clock.pci_ps")


def card_period(profile: Profile) -> int:
    """Return the period in ps of the FPGA card's PCI bus, with or without a bridge."""
    own = profile.integer("clock.pci_ps")
    return max(own, SLOW_PS) if profile.integer("fpga.mhz") < 66 else own


def image_ps(profile: Profile, whole: bool = True) -> int:
    """Return the least time in ps that the frames of an image of an FPGA card, or of one of its slots, take."""
    size = profile.integer("fpga.image_bytes" if whole else "fpga.slot_bytes")
    return size * (1 + profile.integer("fpga.config_wait")) * card_period(profile)


def fpga_settings(profile: Profile) -> dict[int, int]:
    """Return the settings of a node with an FPGA card, in addition to `node_settings`."""
    slow = pci_period(profile, True) > FAST_PS
    return from_profile(profile, FPGA) | {
        int(Setting.FPGA_WIDE): int(profile.integer("fpga.width") == 64),
        int(Setting.FPGA_M66): int(profile.integer("fpga.mhz") >= 66),
        int(Setting.PCI_M66): int(not slow),
    }


def node_settings(profile: Profile) -> dict[int, int]:
    """Return the settings of a node: link, PCI segment, NIC."""
    values = {key: value for bundle in (BRIDGE, MASTER, TARGET) for key, value in from_profile(profile, bundle).items()}
    values |= {
        int(Setting.CARD_BASE): SLOT,
        int(Setting.CARD_ENABLED): 1,
        int(Setting.PCI_WIDE): int(profile.integer("pci.width") == 64),
        int(Setting.PCI_M66): int(profile.integer("clock.pci_ps") < 30_000),
        int(Setting.MEM_LOG2): (profile.integer("memory.bytes") - 1).bit_length(),
    }
    return link_settings(profile) | values | profile.nic.settings(profile)
