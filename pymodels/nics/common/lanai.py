"""Common base of the LANai kinds of NIC."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from pymodels.hardware.kind import NicKind
from pymodels.hardware.schema import NIC, PROCESSOR, U16, Key
from pymodels.hardware.sram import SramPorts
from pymodels.hardware.value import Values
from pymodels.lanai.clocks import Pace
from pymodels.settings import Setting

CDC_LATENCY = 1
"""Additional read-clock edges of a clock crossing beyond the first: a two-flop synchronizer (ours)."""
# fmt: off
KEYS = (
    *PROCESSOR,
    Key("rtc.tick_ps", NIC, int, "ps", 1000, 10**9, "tick of the real-time clock and the timers"),
    Key("nres.timeout_ps", NIC, int, "ps", 0, 10**12, "shortest of the four network time-outs (code 0)"),
    Key("nres.truncate", NIC, bool, "", 0, 1, "1 = the network time-out cuts the packet; 0 = it resets the receiver"),
    Key("core.fetch_words", NIC, int, "words", 2, 8, "prefetch buffer of executed code, in SRAM words: 2, 4 or 8"),
    Key("dma.start_clocks", NIC, int, "NIC clocks", 0, U16, "start-up of a host DMA before its bus request"),
)
# fmt: on
SRAM_PORTS = SramPorts(("pio", "dma", "receive", "send", "processor"), equal=2)
"""Requesters of the SRAM (hdl/nic/common/myri_sram_arbiter.sv)."""


RATE_MOST = 0xFFFF
"""Maximum of the numerator and the denominator of a clock rate in the RTL."""


def rtc_rate(nic_ps: int, tick_ps: int) -> Fraction:
    """Return the ticks of the real-time clock in a NIC clock: the nearest fraction of two 16-bit numbers."""
    rate = Fraction(nic_ps, tick_ps).limit_denominator(RATE_MOST // max(1, -(-nic_ps // tick_ps)))
    return max(rate, Fraction(1, RATE_MOST))


def core_pace(values: Values) -> Pace:
    """Return the timing parameters of a core for a profile, equal to those that `settings` passes to the RTL."""
    keys = ("processor.load_clocks", "sram.width", "core.fetch_words", "processor.uncached_clocks")
    late, bits, words, further = (values.integer(key) for key in keys)
    return Pace(late, bits // 8, words, further)


@dataclass(frozen=True)
class Lanai(NicKind):
    """LANai as a kind of NIC."""

    def disagreement(self, values: Values) -> tuple[str, str] | None:
        words = values.integer("core.fetch_words")
        if words & words - 1:
            return f"core.fetch_words is {words}", "give 2, 4 or 8"
        if not values.integer("processor.load_clocks"):
            return "processor.load_clocks is 0", "give 1 to 4: a LANai's next instruction is too early"
        return super().disagreement(values)

    def settings(self, values: Values) -> dict[int, int]:
        nic_ps = values.integer("clock.nic_ps")
        rtc = rtc_rate(nic_ps, values.integer("rtc.tick_ps"))
        return {
            int(Setting.SRAM_ACCESSES): values.integer("sram.accesses"),
            int(Setting.CDC_LATENCY): CDC_LATENCY,
            int(Setting.DMA_START_CLOCKS): values.integer("dma.start_clocks"),
            int(Setting.RTC_NUMERATOR): rtc.numerator,
            int(Setting.RTC_DENOMINATOR): rtc.denominator,
            int(Setting.NRES_CLOCKS): values.integer("nres.timeout_ps") // nic_ps,
            int(Setting.NRES_TRUNCATE): int(values.flag("nres.truncate")),
            int(Setting.CORE_LOAD_DELAY): values.integer("processor.load_clocks"),
            int(Setting.CORE_FETCH_LOG2): values.integer("core.fetch_words").bit_length() - 1,
            int(Setting.CORE_REGISTER_CLOCKS): values.integer("processor.uncached_clocks"),
            int(Setting.CORE_SRAM_BYTES): values.integer("sram.bytes"),
        }
