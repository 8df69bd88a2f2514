"""Profile settings that the machine supports: its delays and sizes, and a reason for each setting without effect."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from pymodels.errors import ConfigError
from pymodels.machine.timing import Timing
from pymodels.nics.common.lanai import core_pace
from pymodels.options import SETTING
from pymodels.profiles.profile import Profile

PS_PER_NS = 1000


def _ps(key: str) -> Callable[[Profile], int]:
    """Return a function that converts a profile value from nanoseconds to picoseconds."""
    return lambda profile: profile.integer(key) * PS_PER_NS


CORE = ("processor.load_clocks", "sram.width", "core.fetch_words", "processor.uncached_clocks")
"""Profile values that determine the clocks of an executing processor (`core_pace`)."""
TIMES: Mapping[str, tuple[tuple[str, ...], Callable[[Profile], object]]] = {
    "nic_clock": (("clock.nic_ps",), lambda profile: profile.integer("clock.nic_ps")),
    "core": (CORE, core_pace),
    "rtc_tick": (("rtc.tick_ps",), lambda profile: profile.integer("rtc.tick_ps")),
    "character": (("clock.link_ps",), lambda profile: profile.integer("clock.link_ps")),
    "fall_through": (
        ("switch.fall_through_ns",),
        lambda profile: profile.fall_through_characters() * profile.integer("clock.link_ps"),
    ),
    "cable": (
        ("cable.metres", "cable.ns_per_metre"),
        lambda profile: profile.cable_characters(None) * profile.integer("clock.link_ps"),
    ),
    "interrupt_least": (("host.interrupt_min_ns",), _ps("host.interrupt_min_ns")),
    "interrupt_most": (("host.interrupt_max_ns",), _ps("host.interrupt_max_ns")),
    "context_switch": (("host.context_switch_ns",), _ps("host.context_switch_ns")),
    "signal": (("host.signal_ns",), _ps("host.signal_ns")),
    "fault": (("host.fault_ns",), _ps("host.fault_ns")),
    "protect": (("host.protect_ns",), _ps("host.protect_ns")),
    "syscall": (("host.kernel_entry_ns",), _ps("host.kernel_entry_ns")),
    "copy_byte": (("memory.copy_MBps",), lambda profile: round(1e6 / profile.integer("memory.copy_MBps"))),
}
"""Fields of `Timing` with the profile values that determine them and the conversion."""
SIZES = ("sram.bytes", "memory.bytes", "host.interrupt_seed")
"""Profile values that are arguments of `Machine`."""
HONOURED = frozenset(SIZES).union(*(keys for keys, _ in TIMES.values()))
"""Profile values that affect the machine, if the NIC has all values of the same delay."""

FLAT = "a path takes the machine's flat time, whatever the processor"
NO_CHARACTERS = "the machine limits a sender by bytes in the network, without STOP, GO, BEAT or time-out"
NO_BUS = "the machine's bus moves bytes at fixed rates, without transactions"
NO_FILES = "the machine reads no configuration file, which divides memory into queues"
NO_CARD = "the machine has no FPGA card"
NO_ARBITER = "the machine counts accesses to SRAM and delays none"
FIXED_DMA = "the machine's host DMA starts and moves at fixed rates"
IGNORED: Mapping[str, str] = {
    **dict.fromkeys(("host.clock_mhz", "host.instruction_clocks", "host.load_clocks", "host.store_clocks"), FLAT),
    **dict.fromkeys(("host.uncached_clocks", "host.post_user_ns", "host.post_kernel_ns", "host.packet_ns"), FLAT),
    **dict.fromkeys(("host.frame_ns", "host.select_ns"), FLAT),
    "host.poll_miss_ns": "polling on the machine has no cache miss after a DMA",
    "memory.queue_bytes": NO_FILES,
    "sram.queue_bytes": NO_FILES,
    "bridge.*": NO_BUS,
    "pci.*": NO_BUS,
    "clock.pci_ps": NO_BUS,
    "fpga.*": NO_CARD,
    "link.*": NO_CHARACTERS,
    "sram.accesses": NO_ARBITER,
    "processor.store_clocks": FLAT,
    "processor.instructions_per_fetch": FLAT,
    "processor.work_scale": FLAT,
    "dma.*": FIXED_DMA,
    "nres.*": "the machine has no time-out of the network",
    "switch.central_queue": "the machine's switches have no central queue",
    "internal_bus.*": "the machine's SP adapter has no internal bus",
    "doorbell.present": "the machine's SP adapter always has its doorbell region",
    "packet.payload": "the machine's SP adapter has a fixed packet size",
}
"""Reasons for the other profile values, by name or by `group.*`."""


def reason(key: str, profile: Profile) -> str:
    """Return the reason why a profile value has no effect on the machine; empty if it has one.

    Raises KeyError for a value that is declared in neither table.
    """
    if key in SIZES or any(key in TIMES[field][0] for field in _fields(profile)):
        return ""
    if key in CORE:
        return f"the machine executes no machine code on {profile.nic.title}"
    return IGNORED[key] if key in IGNORED else IGNORED[f"{key.partition('.')[0]}.*"]


def _fields(profile: Profile) -> list[str]:
    """Return the `Timing` fields for which a profile has all values."""
    return [field for field, (keys, _) in TIMES.items() if all(key in profile.values for key in keys)]


def timing_of(profile: Profile) -> Timing:
    """Return the machine's delays according to a profile."""
    known = {field: TIMES[field][1](profile) for field in _fields(profile)}
    return replace(Timing(), **known)  # type: ignore[arg-type]


def check_honoured(settings: Iterable[str], profile: Profile) -> None:
    """Raise ConfigError for the first profile setting that the machine ignores."""
    for name in settings:
        if name in profile.values and (why := reason(name, profile)):
            raise ConfigError(
                SETTING, 0, f"{name} has no effect on the machine", why, "leave it out, or run on the RTL"
            )
