"""NIC firmware of `echo`: sends the host's slot and stores received packets in the host's inbox. See README.md."""

from firmware.common.nic import HostDma, Service, host_dma, route_row, serve
from firmware.echo.nic import layout as at
from firmware.verbs import Nic, Watch
from firmware.view import ClusterView
from pymodels.registers import Flag, Isr, Reg


async def main(nic: Nic, view: ClusterView) -> None:
    """Wait for the host, then serve slot, engines and inbox forever."""
    await start(nic, view)
    dma = host_dma(nic, {0: at.CHAIN})
    services: list[Service] = [
        (Watch(at.STATE, 0, "look_slot", mask=1), lambda: send(nic)),
        (Watch(Reg.ISR, 0, "look_isr", mask=1 << Isr.SEND, register=True), lambda: sent(nic)),
        (Watch(Reg.ISR, 0, "look_isr", mask=1 << Isr.RECV, register=True), lambda: receive(nic, dma)),
        *dma.services({}, "look_isr"),
        (Watch(at.CONSUMED, 0, "look_consumed"), lambda: arm(nic)),
    ]
    await serve(nic, services)


async def start(nic: Nic, view: ClusterView) -> None:
    """Wait for the inbox address, then initialise control blocks and routes."""
    await nic.poll_loop([Watch(at.INBOX, 0, "look_inbox")]).run()
    nic.store_words(at.CHAIN, (Flag.TERMINAL, 0, at.PACKET, at.IN, 0, nic.load(at.INBOX)))
    nic.store_words(at.FLAG_BLOCK, (Flag.TERMINAL, 0, 4, at.FLAG, 0, nic.load(at.INBOX) + at.PACKET, 1))
    for vnn, route in view.routes.items():
        nic.store_words(at.ROUTES + 16 * vnn, route_row(route, nic.word_bytes))
    await arm(nic)


async def send(nic: Nic) -> None:
    """Send the full slot: put the route in front of the packet and start the send engine."""
    await nic.work("send")
    nic.store(at.STATE, 2)
    destination, size = divmod(nic.load(at.OUT + 12), 1 << 16)
    high, low, begin, skip = nic.load_words(at.ROUTES + 16 * destination, 4)
    nic.store_words(at.OUT, (high, low))
    nic.write(Reg.SMP, at.OUT + begin)
    nic.write(Reg.SA, skip)
    nic.write(Reg.SMLT, at.OUT + 16 + (size + 7 & ~7))


async def sent(nic: Nic) -> None:
    """Mark the slot as empty, since the send engine has read it."""
    await nic.work("sent")
    nic.write(Reg.ISR, 1 << Isr.SEND)
    nic.store(at.STATE, 0)


async def receive(nic: Nic, dma: HostDma) -> None:
    """Deliver a received packet, or drop it if its CRC-8 syndrome is not 0."""
    nic.write(Reg.ISR, 1 << Isr.RECV)
    syndrome = nic.load(await nic.read(Reg.RMP) - nic.word_bytes) >> 24
    await (arm(nic) if syndrome else deliver(nic, dma))


async def deliver(nic: Nic, dma: HostDma) -> None:
    """Start the DMA chain, which copies first the packet and then the flag to the host."""
    await nic.work("deliver")
    nic.store(at.FLAG_BLOCK, at.CHAIN)
    nic.store(at.CHAIN, at.FLAG_BLOCK)
    nic.put_message(at.FLAG, nic.message_at(at.IN))
    await dma.pulse(0)


async def arm(nic: Nic) -> None:
    """Prepare the receive engine for the next packet, which has waited in the network until now."""
    await nic.work("arm")
    nic.store(at.CONSUMED, 0)
    nic.write(Reg.RMP, at.IN)
    nic.write(Reg.RML, at.IN + 128)
