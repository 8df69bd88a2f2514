"""SP adapter as a kind of NIC, and the SP switch network."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from pymodels.cards import SLOT, CardMap
from pymodels.costs.targets import POWERPC
from pymodels.formats.sp import MAX_USER, ROUTE_BYTES
from pymodels.hardware.kind import Network, NicKind
from pymodels.hardware.processors import NicProcessor
from pymodels.hardware.schema import NIC, PROCESSOR, Key
from pymodels.hardware.value import Values
from pymodels.nics.sp.registers import SpControl, SpPci, SpSetting
from pymodels.settings import OWN, Setting

NETWORK = Network(
    capture_type=148,
    hdl_switch={"SP": 1},
    pipeline=3,
    ports=8,
    route_bytes=ROUTE_BYTES,
    switch="an SP switch chip",
    chunk=8,
)
"""SP network with link type LINKTYPE_USER1, the pipeline of `sp_switch`, and the ports of a chip (paper 001, 3.1.1)."""
# fmt: off
KEYS = (
    *PROCESSOR,
    Key("switch.central_queue", NIC, int, "bytes", 0, 16384, "buffer shared by all outputs of a switch"),
    Key("dma.start_ns", NIC, int, "ns", 0, 100_000, "start-up of a host DMA before its bus request"),
    Key("dma.fifo_bytes", NIC, int, "bytes", 0, 65536, "each of the two FIFOs between PCI and internal bus"),
    Key("internal_bus.period_ps", NIC, int, "ps", 1000, 100_000, "internal bus of the adapter"),
    Key("internal_bus.width", NIC, int, "bits", 32, 64, "internal bus of the adapter"),
    Key("doorbell.present", NIC, bool, "", 0, 1, "stores to the doorbell region go to a FIFO in hardware"),
    Key("packet.payload", NIC, int, "bytes", 8, 2040, "payload of a switch packet, the layer's header included"),
)
# fmt: on


def bus_beat(values: Values) -> int:
    """Return the NIC clocks for which a beat occupies the internal bus: one bus clock."""
    return math.ceil(values.integer("internal_bus.period_ps") / values.integer("clock.nic_ps"))


def bus_access(values: Values) -> int:
    """Return the NIC clocks for which an access of processor or host occupies the internal bus: address and data."""
    return 2 * bus_beat(values)


@dataclass(frozen=True)
class SpCard(CardMap):
    """Address map of the card. The control register is the only register that the host can access."""

    def register(self, register: int) -> int:
        """Return the address of the control register, which contains the interrupt bit."""
        return self.control

    def signal(self, value: int) -> int:
        """Return the interrupt bit."""
        return 1 << SpControl.INTERRUPT


@dataclass(frozen=True)
class SpAdapter(NicKind):
    """Card with an internal bus between its processor's cache, its FIFOs and the PCI bus."""

    def card(self, sram_bytes: int, values: Values | None = None) -> CardMap:
        """Return the address map; `values` determine whether there are doorbells, which is the default."""
        doorbells = values is None or values.flag("doorbell.present")
        places = SLOT + SpPci.SRAM, SLOT + SpPci.CONTROL, SLOT + SpPci.CONTROL
        return SpCard(*places, has_doorbells=doorbells, most_payload=MAX_USER)

    def settings(self, values: Values) -> dict[int, int]:
        """Return the run-time settings.

        All clocks have one root (readings A8), so that a clock crossing is one register. An access of the processor or
        the host occupies the internal bus for two bus clocks (address and data). A beat of the right engine occupies it
        for one.
        """
        return {
            int(Setting.CDC_LATENCY): 0,
            int(Setting.DMA_START_CLOCKS): round(
                values.integer("dma.start_ns") * 1000 / values.integer("clock.nic_ps")
            ),
            int(SpSetting.BUS_BEAT): bus_beat(values),
            int(SpSetting.BUS_ACCESS): bus_access(values),
            int(SpSetting.DOORBELL): int(values.flag("doorbell.present")),
        }

    def processor(self, values: Values) -> NicProcessor:
        """Return the processor costs: loads and stores are cached; an uncached access uses the internal bus."""
        plain = NicProcessor.from_profile(values)
        return replace(plain, uncached=plain.uncached + bus_access(values), cached=True)


INVARIANTS = {
    OWN: "command lost: the SP adapter's command queue was full",
    OWN + 1: "invalid command: the SP adapter's RECV_NEXT or STORE has no packet or exceeds it",
}
KIND = SpAdapter(
    "sp",
    "an SP adapter",
    NETWORK,
    1 << 19,
    "sim_sp_nic",
    POWERPC,
    boots=False,
    commands=True,
    invariants=INVARIANTS,
    keys=KEYS,
)
