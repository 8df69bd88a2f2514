"""Access of a process to its endpoint's frame, in the NIC's memory or, while absent, in host memory."""

from __future__ import annotations

from collections.abc import Sequence
from struct import pack

from firmware.am2.host.credits import SendQueue
from firmware.am2.host.driver import Driver
from firmware.am2.host.granted import Granted
from firmware.am2.host.message import Data, EndpointName, Replies, Token
from firmware.am2.nic.layout import ARRIVED, BLOCKS, FREED, STRIDE, descriptor
from firmware.am2.nic.words import HEAD, SHORT_WORDS, TAG, Head, Kind, Name, Queue, halves, name, tag_words
from pymodels.trace import TraceEvent

REPLY_TAG = STRIDE - 4 * TAG


class Frame:
    """Frame of one endpoint."""

    def __init__(self, driver: Driver, granted: Granted) -> None:
        self._driver, self._granted, self._process = driver, granted, granted.process
        self.called = self.message = 0
        """Name of the last message that was read, and its number in the trace."""

    # ---- out

    async def post(
        self,
        send: SendQueue,
        path: str,
        head: Head,
        where: EndpointName,
        tag: int,
        words: Sequence[int],
        data: Data,
        offset: int = 0,
    ) -> None:
        """Post a message: payload into a staging block, descriptor into the queue, the owner's word last.

        Block and descriptor are reserved before the first await, so that other threads may post meanwhile.

        Args:
            send: Send queue.
            path: Path that is charged.
            head: First word of the descriptor.
            where: Destination.
            tag: Tag of the destination.
            words: Arguments.
            data: Payload.
            offset: Offset of bulk data in the destination's segment.
        """
        host, process, index, block = self._driver.host, self._process, send.posted, send.block() if data else None
        if block is not None:
            send.use(block)
        send.posted += 1
        at, message = self._at(send.queue, index), host.message()
        host.trace(TraceEvent.SEND_CALL, 0, len(data), message=message)
        await process.spend(path)
        length = 0
        if data:
            assert block is not None
            length = len(data) << 16 | block
            await self._stage(block, data)
        called = name(self._driver.me, self._granted.number, send.queue, index)
        body = ((where.node << 16 | where.endpoint), *tag_words(tag), length, offset, *words)
        await self._granted.store(at + 4, pack(f">{len(body)}I", *body))
        host.trace(TraceEvent.PAYLOAD_WRITTEN, called, len(data), message=message)
        self._granted.put_message(at, message)
        await self._granted.store(at, pack(">I", head.word))
        host.trace(TraceEvent.POINTER_WRITTEN, called, head.word, message=message)

    async def _stage(self, block: int, data: Data) -> None:
        """Copy payload into a staging block by the CPU."""
        offset = self._driver.options.medium * block
        self._process.store_bytes(self._granted.staging + offset, bytes(data))
        memory = self._granted.memory + offset
        await self._driver.host.copy_memory("am2_copy", memory, memory, len(data))

    async def look_freed(self, send: SendQueue) -> None:
        """Read the status word of a send queue."""
        word = await self._granted.load(FREED[send.queue])
        await self._process.spend("am2_look_freed")
        send.update(word)

    async def wait_freed(self, send: SendQueue) -> None:
        """Spin until the NIC has freed another descriptor of a send queue."""
        send.update(await self._granted.spin(FREED[send.queue], send.word, "am2_look_freed"))

    # ---- in

    async def arrived(self) -> tuple[int, int]:
        """Return the counts of received requests and replies, modulo 2^16, with one read over the bus."""
        word = await self._granted.load(ARRIVED)
        await self._process.spend("am2_look")
        return halves(word)

    async def spin(self, before: int) -> None:
        """Spin on the counts of messages until they change, or the frame is loaded or evicted."""
        await self._granted.spin(ARRIVED, before, "am2_look")

    async def read(self, queue: Queue, number: int, endpoint: Replies) -> Token:
        """Read a message from its descriptor, word by word as far as needed."""
        load, at = self._granted.load, self._at(queue, number)
        head, called = Head.decode(await load(at)), await load(at + 4)
        self.called, self.message, whose = called, self._granted.message_at(at), Name.decode(called)
        if not head.returned:
            self._driver.host.trace(TraceEvent.POLL_HIT, called, 0, whose.node, message=self.message)
        size, block = halves(await load(at + 16)) if head.kind != Kind.SHORT else (0, 0)
        count = min(head.arguments, SHORT_WORDS)
        arguments = [await load(at + 4 * (HEAD + one)) for one in range(count)]
        await self._process.spend("am2_receive")
        va = self._granted.staging + self._driver.options.medium * (block % BLOCKS)
        token = Token(endpoint, head, whose, tuple(arguments), va, size, number)
        if head.kind >= Kind.BULK:
            token.offset = await load(at + 20)
        return token

    async def reply_tag(self, token: Token) -> int:
        """Return the tag of a request's source, which its NIC has added."""
        at = self._at(Queue.REPLY_RECEIVE if token.is_reply else Queue.REQUEST_RECEIVE, token.index) + REPLY_TAG
        return await self._granted.load(at) << 32 | await self._granted.load(at + 4)

    async def release(self, queue: Queue, number: int) -> None:
        """Free the descriptor of a handled message."""
        await self._granted.store(self._at(queue, number), bytes(4))

    def _at(self, queue: Queue, number: int) -> int:
        return descriptor(0, queue, number)
