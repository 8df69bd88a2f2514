"""Schema of hardware profiles: key, type, unit, range and meaning of each value.

`COMMON` has the keys of every host and every NIC; a kind of NIC adds its own (`pymodels.profiles.keys`). The last part
of a key is the name of the RTL input port (`cfg_...`) that receives the value, if there is one.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from pymodels.options import Fault, NumberType, number_fault


class Origin(str, Enum):
    """Origin of a value (design 6), most trustworthy first."""

    PAPER = "paper"
    """Table or sentence of a paper."""
    FACT = "fact"
    """Fact sheet of the project."""
    COMPILED = "compiled"
    """Count in code compiled for the real processor."""
    CALIBRATED = "calibrated"
    """Value adjusted so that the RTL reproduces the published value that the source names."""
    ASSUMED = "assumed"
    """Value from memory, by our choice, or set by the user."""


class Owner(str, Enum):
    """Profile file that contains a value."""

    NIC = "nic"
    HOST = "host"


Scalar = int | float | bool


@dataclass(frozen=True)
class Key:
    """Key of a profile value. `low` and `high` bound numbers."""

    name: str
    owner: Owner
    type: NumberType
    unit: str
    low: float
    high: float
    meaning: str

    @property
    def even(self) -> bool:
        """True for clock periods, which are even so that clock edges occur at even picoseconds and software acts
        between them.
        """
        return self.name.startswith("clock.")


NIC, HOST = Owner.NIC, Owner.HOST
U16, U31, U32 = 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF

# fmt: off
COMMON = (
    Key("clock.nic_ps", NIC, int, "ps", 1000, 100_000, "clock period of the NIC processor and its SRAM"),
    Key("clock.link_ps", NIC, int, "ps", 1000, 100_000, "duration of one character on the link"),
    Key("clock.pci_ps", NIC, int, "ps", 15_000, 30_000, "clock period of the card's PCI bus"),

    Key("link.slack", NIC, int, "characters", 8, 128, "slack buffer of a link input"),
    Key("link.stop_mark", NIC, int, "characters", 2, 127, "fill at which STOP is sent"),
    Key("link.go_mark", NIC, int, "characters", 1, 126, "fill at which GO is sent"),
    Key("link.refresh", NIC, int, "characters", 1, U16, "period of repeated STOPs"),
    Key("link.short_timeout", NIC, int, "characters", 0, U16, "time without STOP until a sender assumes GO; 0 = off"),
    Key("link.long_timeout", NIC, int, "characters", 0, U32, "time after which a blocked packet is cut; 0 = off"),
    Key("link.beat_period", NIC, int, "characters", 0, U32, "period of BEAT; 0 = off"),
    Key("cable.metres", NIC, float, "m", 0, 200, "default length of a cable"),
    Key("cable.ns_per_metre", NIC, float, "ns/m", 0, 20, "time of flight"),
    Key("switch.fall_through_ns", NIC, int, "ns", 0, 1500, "route byte in to first character out of an idle switch"),

    Key("sram.bytes", NIC, int, "bytes", 65536, 1 << 23, "NIC memory"),
    Key("sram.width", NIC, int, "bits", 32, 64, "data path of the NIC memory"),
    Key("sram.queue_bytes", NIC, int, "bytes", 4096, 1 << 23, "part of the NIC memory for message queues"),

    Key("pci.width", NIC, int, "bits", 32, 64, "data path of the card's PCI bus"),
    # The card as master.
    Key("pci.latency_timer", NIC, int, "PCI clocks", 0, 255, "maximum length of a burst without grant; 0 = unlimited"),
    Key("pci.max_burst", NIC, int, "bytes", 0, U16, "longest transaction; 0 = unlimited"),
    Key("pci.line_bytes", NIC, int, "bytes", 16, 64, "cache line size, which selects the PCI read command"),
    Key("pci.start_delay", NIC, int, "PCI clocks", 0, 255, "delay from a command to its bus request"),
    Key("pci.irdy_wait", NIC, int, "PCI clocks", 0, 6, "maximum wait for the next data before it releases the bus"),
    # The card as target.
    Key("pci.devsel", NIC, int, "PCI clocks", 1, 2, "DEVSEL# speed: 1 medium, 2 slow"),
    Key("pci.write_initial", NIC, int, "PCI clocks", 0, 15, "wait states before the first word written"),
    Key("pci.read_initial", NIC, int, "PCI clocks", 0, 15, "minimum wait states before the first word read"),
    Key("pci.subsequent", NIC, int, "PCI clocks", 0, 7, "wait states before each further word"),
    Key("pci.read_wait", NIC, int, "PCI clocks", 0, 15, "maximum wait for read data before a retry"),
    Key("pci.stall_limit", NIC, int, "PCI clocks", 0, 6, "maximum wait of a later data phase before a disconnect"),
    Key("pci.max_phases", NIC, int, "data phases", 0, 255, "data phases before a disconnect; 0 = unlimited"),
    Key("pci.discard", NIC, int, "PCI clocks", 0, U16, "time until an unfetched delayed read is discarded; 0 = never"),

    Key("host.clock_mhz", HOST, int, "MHz", 10, 10_000, "processor clock"),
    # Clocks of the three kinds of access are added to those of the instruction.
    Key("host.instruction_clocks", HOST, float, "clocks", 0.1, 20, "mean clocks of an instruction of compiled code"),
    Key("host.load_clocks", HOST, float, "clocks", 0, 100, "additional clocks of a cached load"),
    Key("host.store_clocks", HOST, float, "clocks", 0, 100, "additional clocks of a cached store"),
    Key("host.uncached_clocks", HOST, float, "clocks", 0, 1000, "further clocks of an uncached access, bus excluded"),
    Key("host.poll_miss_ns", HOST, int, "ns", 0, 10_000, "cache miss of a poll after a DMA write"),
    Key("host.context_switch_ns", HOST, int, "ns", 0, 100_000, "context switch between threads"),
    Key("host.fault_ns", HOST, int, "ns", 0, 100_000, "page fault, until its handler runs"),
    Key("host.protect_ns", HOST, int, "ns", 0, 100_000, "change of a page's rights, without the system call"),
    Key("host.signal_ns", HOST, int, "ns", 0, 100_000, "delivery of a signal and return, without the handler"),
    Key("host.kernel_entry_ns", HOST, int, "ns", 0, 100_000, "fast system call: user to kernel and back"),
    Key("host.post_user_ns", HOST, int, "ns", 0, 100_000, "VIA: posting in the library, in addition to its paths"),
    Key("host.post_kernel_ns", HOST, int, "ns", 0, 100_000, "VIA: posting in the kernel, in addition to its paths"),
    Key("host.packet_ns", HOST, int, "ns", 0, 100_000, "HAL: a packet sent or received, in addition to its paths"),
    Key("host.frame_ns", HOST, int, "ns", 0, 200_000, "UDP: a frame in the kernel, in addition to its paths"),
    Key("host.select_ns", HOST, int, "ns", 0, 200_000, "UDP: a call of select, in addition to its paths"),
    Key("host.interrupt_min_ns", HOST, int, "ns", 0, 10**6, "minimum interrupt latency"),
    Key("host.interrupt_max_ns", HOST, int, "ns", 0, 10**6, "maximum interrupt latency"),
    Key("host.interrupt_seed", HOST, int, "", 0, U31, "seed of interrupt latencies, added to the run's seed"),
    Key("memory.bytes", HOST, int, "bytes", 1 << 20, 1 << 31, "host memory (sparse)"),
    Key("memory.copy_MBps", HOST, int, "MB/s", 1, 100_000, "copy by the CPU, unless its loop takes longer"),
    Key("memory.queue_bytes", HOST, int, "bytes", 4096, 1 << 28, "pinned memory for incoming message queues"),
    Key("bridge.post_depth", HOST, int, "entries", 1, 16, "posted writes held before the processor waits"),
    Key("bridge.wc_bytes", HOST, int, "bytes", 8, 64, "a write-combining buffer of the processor"),
    Key("bridge.start_delay", HOST, int, "PCI clocks", 0, 255, "delay from head of the queue to bus request"),
    # The bridge as master towards the cards.
    Key("bridge.latency_timer", HOST, int, "PCI clocks", 0, 255, "longest burst without grant; 0 = unlimited"),
    Key("bridge.read_return", HOST, int, "PCI clocks", 0, 255, "delay from the data on the bus to the processor"),
    # The bridge as target of the cards, in front of host memory.
    Key("bridge.up_devsel", HOST, int, "PCI clocks", 1, 2, "DEVSEL# speed: 1 medium, 2 slow"),
    Key("bridge.up_write_initial", HOST, int, "PCI clocks", 0, 15, "wait states before the first word written"),
    Key("bridge.up_read_initial", HOST, int, "PCI clocks", 0, 15, "minimum wait states before the first word read"),
    Key("bridge.up_subsequent", HOST, int, "PCI clocks", 0, 7, "wait states before each further word"),
    Key("bridge.up_read_wait", HOST, int, "PCI clocks", 0, 15, "maximum wait for memory before a retry"),
    Key("bridge.up_stall_limit", HOST, int, "PCI clocks", 0, 6, "longest wait of a later data phase"),
    Key("bridge.up_max_phases", HOST, int, "data phases", 0, 255, "data phases before a disconnect; 0 = unlimited"),
    # Unrelated host and PCI clocks: num of den processor transactions wait one more PCI clock; den 0 = none.
    Key("bridge.extra_num", HOST, int, "transactions", 0, 15, "processor transactions that wait one more clock ..."),
    Key("bridge.extra_den", HOST, int, "transactions", 0, 15, "... of these; 0 = none"),
    # The inbound buffer holds 8 bytes per beat, and drains num beats every den PCI clocks.
    Key("bridge.in_buffer", HOST, int, "beats", 1, 64, "inbound write buffer"),
    Key("bridge.drain_num", HOST, int, "beats", 1, 255, "drain rate of the inbound buffer, numerator"),
    Key("bridge.drain_den", HOST, int, "PCI clocks", 1, 255, "drain rate of the inbound buffer, denominator"),
    Key("bridge.read_latency", HOST, int, "PCI clocks", 0, 255, "delay of the first data of a card's read"),

    # The FPGA card of a host with USE CELOXICA; other values are those of pci.*.
    Key("fpga.width", HOST, int, "bits", 32, 64, "data path of the FPGA card on the PCI bus"),
    Key("fpga.mhz", HOST, int, "MHz", 33, 66, "maximum clock of the FPGA card's PCI bus"),
    Key("fpga.bridge", HOST, bool, "", 0, 1, "1 = FPGA card and frame buffer have their own PCI bus"),
    Key("fpga.start_delay", HOST, int, "PCI clocks", 0, 255, "delay from a command of its master to the bus request"),
    Key("fpga.write_initial", HOST, int, "PCI clocks", 0, 15, "wait states before the first word written to it"),
    Key("fpga.read_initial", HOST, int, "PCI clocks", 0, 15, "minimum wait states before the first word read from it"),
    Key("fpga.linger", HOST, int, "PCI clocks", 0, 255, "time for which the bus keeps a bank after an access"),
    Key("fpga.patience", HOST, int, "PCI clocks", 0, U16, "maximum wait of an access for a bank; 0 = unlimited"),
    Key("fpga.pause", HOST, int, "PCI clocks", 1, 255, "time between two polls of a full queue of the NIC"),
    Key("fpga.clock_divisor", HOST, int, "", 1, 250, "divisor of the user clock of 100 MHz"),
    Key("fpga.config_wait", HOST, int, "PCI clocks", 0, 255, "time of a byte of an image, beyond one clock"),
    Key("fpga.image_bytes", HOST, int, "bytes", 8, 4_000_000, "frames of an image of the whole FPGA"),
    Key("fpga.slot_bytes", HOST, int, "bytes", 8, 4_000_000, "frames of an image of one slot"),
)

# Keys of a NIC with a processor. An instruction takes one clock, and waits for a pending load of a register that it
# uses. Clocks of stores and uncached accesses are added to those of their instruction, without contention. The factor
# of compiled clocks applies to charged paths, not to programs on the core; a host's is `host.instruction_clocks`.
PROCESSOR = (
    Key("sram.accesses", NIC, int, "per clock", 1, 2, "memory accesses in one NIC clock"),
    Key("processor.load_clocks", NIC, int, "clocks", 0, 4, "load delay: clocks until a loaded value is available"),
    Key("processor.store_clocks", NIC, int, "clocks", 0, 64, "additional clocks of a store to SRAM"),
    Key("processor.uncached_clocks", NIC, int, "clocks", 0, 256, "further clocks of an uncached access, bus excluded"),
    Key("processor.instructions_per_fetch", NIC, int, "instructions", 0, 64, "in one SRAM access; 0 = from a cache"),
    Key("processor.work_scale", NIC, float, "", 0.25, 4, "factor of compiled clocks, for the compilers of the time"),
    Key("dma.chains", NIC, int, "chains", 1, 4, "host DMA transfers that may be pending in hardware"),
)
# fmt: on


def fault_of(key: Key, value: object) -> Fault | None:
    """Return the violation of type or range by a value of a key, or None if the value is valid."""
    fault = number_fault(key.name, value, key.type, key.low, key.high, key.unit)
    if fault is None and key.even and int(value) % 2:  # type: ignore[call-overload]  # a valid value is a number
        return "value out of range", f"{key.name} is {value}", "a period is an even number of picoseconds"
    return fault
