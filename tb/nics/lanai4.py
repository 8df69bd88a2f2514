"""LANai 4 on the RTL: the LANai 9 names that firmware uses, mapped to the registers of this chip."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from firmware.verbs import Watch
from pymodels.nics.lanai4 import registers as lanai4
from tb.bind.lanai import OP_READ, OP_WRITE, RtlNic, RtlPollLoop
from tb.nics.lanai import view


class RtlNic4(RtlNic):
    """Verbs of one LANai 4: the LANai 9 verbs with registers, ISR bits and limits translated."""

    kind = "lanai4"
    word_bytes = lanai4.WORD

    def write(self, register: int, value: int) -> None:
        here = lanai4.place(register)
        self._commands.give(OP_WRITE, here, lanai4.written(here, value & 0xFFFFFFFF))

    async def read(self, register: int) -> int:  # type: ignore[override]
        here = lanai4.place(register)
        return lanai4.shown(here, await self._commands.submit(f"register {here.name}", OP_READ, here) & 0xFFFFFFFF)

    def begun(self, watch: Watch) -> None:
        return None

    def poll_loop(self, steps: Sequence[Watch]) -> RtlPollLoop:
        return super().poll_loop([_here(step) for step in steps])


def _here(step: Watch) -> Watch:
    """Return a polling step translated to this chip. Raises ValueError if the chip has none of the polled ISR bits."""
    if not step.register:
        return step
    mask = lanai4.bits_here(step.mask)
    if not mask:
        raise ValueError(f"ISR bits {step.mask:#x} do not exist on the LANai 4; poll other bits")
    here = lanai4.bits_here(step.expect), lanai4.place(step.address)
    return replace(step, mask=mask, expect=here[0], address=here[1], reads=False, answers=())


NIC = RtlNic4
ENGINES = (
    ("cpu_free", ""),
    ("u_host.u_dma.state_q", "word_dma_state"),
    ("u_card.u_device.u_master.state_q", "pci_master"),
    ("u_card.u_device.u_target.state_q", "pci_target"),
)
WAVES = view(ENGINES, "word_dma_state", "nic/lanai4/myri_word_dma")
