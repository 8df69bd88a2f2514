"""Host library of `echo`: sends up to 64 bytes, receives them, sends them back. See firmware/echo/README.md."""

from firmware.common.host.card import load_chain
from firmware.common.host.loader import boot
from firmware.common.host.words import store_words
from firmware.echo.nic import layout as at
from firmware.verbs import Host
from firmware.view import ClusterView
from pymodels.trace import TraceEvent


class Echo:
    """Echo library of one host, with one send slot and one inbox.

    A message waits in the network until the previous one is consumed. One task may send and one may receive
    concurrently.
    """

    def __init__(self, host: Host, view: ClusterView) -> None:
        self.host, self.view, self.number, self.inbox = host, view, 0, host.allocate(4096).address

    async def start(self) -> None:
        """Load the firmware if the NIC executes it, then pass the DMA chain and the inbox address to the NIC. Call
        first.
        """
        await boot(self.host, self.view)
        await load_chain(self.host, 0, at.CHAIN)
        await store_words(self.host, at.INBOX, self.inbox)

    async def send(self, destination: int, payload: bytes) -> None:
        """Send up to 64 bytes to another node, after waiting for an empty slot.

        Args:
            destination: VNN of another node.
            payload: up to 64 bytes.

        Raises:
            ValueError: an invalid destination or size.
        """
        size = len(payload)
        if destination not in self.view.routes or size > at.PAYLOAD:
            raise ValueError(f"destination {destination} (of {[*self.view.routes]}) or payload ({size} of 64 B)")
        self.number = self.number + 1 & 0xFF
        message = self.host.message()
        self.host.trace(TraceEvent.SEND_CALL, 0, size, message=message)
        while await self.host.pio_read(self.host.nic_base + at.STATE):
            pass
        await self.host.spend("send")
        header = at.HEADER.pack(at.TYPE, self.view.me, self.number, destination, size)
        self.host.put_packet(self.host.nic_base + at.OUT + 8, message)
        await self.host.pio_write(self.host.nic_base + at.OUT + 8, header + payload + bytes(-size % 4))
        key = int.from_bytes(header[:4], "big")
        self.host.trace(TraceEvent.PAYLOAD_WRITTEN, key, len(header) + size, message=message)
        await store_words(self.host, at.STATE, 1)

    async def receive(self) -> tuple[int, bytes]:
        """Wait for the next message. Return source node and payload."""
        await self.host.poll([(self.inbox + at.PACKET, 0)], "look_flag")
        self.host.trace(TraceEvent.POLL_HIT, message=self.host.message_at(self.host.nic_base + at.FLAG))
        await self.host.spend("receive")
        packet = self.host.load_bytes(self.inbox, at.PACKET)
        _, source, _, _, size = at.HEADER.unpack_from(packet)
        self.host.store_words(self.inbox + at.PACKET, [0])
        await store_words(self.host, at.CONSUMED, 1)
        return source, packet[at.HEADER.size :][:size]

    async def echo(self) -> None:
        """Receive one message and send it back to its source."""
        await self.send(*await self.receive())
