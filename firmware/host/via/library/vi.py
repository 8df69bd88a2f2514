"""A VI as its process has it: a send and a receive queue (VipPost..., Vip...Done, Vip...Wait, Vip...Notify)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from firmware.host.via.common.attributes import ViAttributes, ViState
from firmware.host.via.common.checks import WORD, handler_of, kind_of, time_limit, whole
from firmware.host.via.common.errors import Result, VipError
from firmware.host.via.common.waiting import Handler, Limit
from firmware.host.via.kernel_agent.memory.translation import RECEIVED, SENT
from firmware.host.via.kernel_agent.vis.context import KernelVi
from firmware.host.via.library.descriptor import Descriptor
from firmware.nic.via.layout import State
from pymodels.formats.via import Field, Reliability, Status
from pymodels.trace import TraceEvent

if TYPE_CHECKING:
    from firmware.host.via.library.completion import CompletionQueue
    from firmware.host.via.library.nic import VipNic


class WorkQueue:
    """The descriptors of one queue that are posted and not taken back, in their order."""

    def __init__(self, vi: Vi, side: int) -> None:
        self.vi, self.side = vi, side
        self.told = 0
        """Done descriptors that a completion queue has told of, and that were not taken back."""
        self._host, self._process = vi.nic.host, vi.nic.process
        self._posted: deque[Descriptor] = deque()
        self.poster = vi.kernel.poster(side)

    def __len__(self) -> int:
        return len(self._posted)

    async def post(self, descriptor: Descriptor) -> None:
        """Append a descriptor, and tell the NIC. Raises VipError when too many are posted."""
        self.vi.kernel.check("posting to")
        kind_of(descriptor, Descriptor, "make one by nic.descriptor")
        if descriptor.process is not self._process:
            raise VipError(Result.INVALID_PARAMETER, f"posting {descriptor!r}", "post a descriptor of this process")
        most = self.vi.nic.options.outstanding
        if len(self._posted) >= most:
            what = f"posting descriptor {len(self._posted) + 1} of a queue"
            raise VipError(Result.ERROR_RESOURCE, what, f"take done ones back, or raise via.outstanding ({most})")
        number = self.vi.nic.begun(descriptor) if self.side == SENT else 0
        await self._process.spend("post_user")
        await self._process.overhead("post_user")
        self._process.store_words(descriptor.va + Field.LENGTH, (0, 0))
        self._posted.append(descriptor)
        try:
            await self.poster.post(descriptor, len(self._posted) - 1)
        except VipError:
            self._posted.remove(descriptor)
            raise
        if number:
            self._host.trace(TraceEvent.SEND_RETURN, 0, descriptor.size, number)

    def _news(self) -> bool:
        """Whether it is, or never will be."""
        return self.over() or self.vi.kernel.dead

    def over(self) -> bool:
        """Whether the oldest descriptor is done."""
        return bool(self._posted) and bool(self._posted[0].status)

    def awaited(self) -> int | None:
        """Virtual address of the status of the oldest descriptor that no completion queue has told of."""
        return self._posted[self.told].va + Field.STATUS if self.told < len(self._posted) else None

    def news(self) -> bool:
        """Whether that descriptor is done."""
        return self.told < len(self._posted) and bool(self._posted[self.told].status)

    async def done(self) -> Descriptor | None:
        """Take the oldest descriptor back if it is done. Raises VipError."""
        self.vi.kernel.check("looking at")
        await self._process.spend("look_done")
        return await self._take()

    async def poll(self) -> Descriptor:
        """Spin until the oldest descriptor is done, and take it back. Raises VipError when nothing is posted."""
        while (descriptor := await self._take()) is None:
            self._some()
            await self._process.poll([(self._posted[0].va + Field.STATUS, 0)], "look_done")
        return descriptor

    async def wait(self, timeout_us: float | None) -> Descriptor:
        """Sleep until the oldest descriptor is done, and take it back. Raises VipError: TIMEOUT, or nothing posted."""
        time_limit(timeout_us, endless=True)
        self._some()
        limit = Limit(self._host, timeout_us)
        await self._process.spend("look_done")
        while (descriptor := await self._take()) is None:
            if limit.over:
                raise VipError(Result.TIMEOUT, "waiting for a descriptor", "wait longer")
            self.vi.kernel.check("waiting at")
            await self.vi.nic.sleep(self._news, [(self.vi.number, self.side)], limit.left_us)
        return descriptor

    def _some(self) -> None:
        self.vi.kernel.check("waiting at")
        if not self._posted:
            raise VipError(Result.INVALID_STATE, "waiting for a descriptor where none is posted", "post one")

    async def _take(self) -> Descriptor | None:
        """The oldest descriptor if it is done; it is this thread's at once, before any other one looks."""
        if not self.over():
            return None
        descriptor = self._posted.popleft()
        self.told = max(self.told - 1, 0)
        await self._process.spend("take_done")
        if self.side == RECEIVED and not descriptor.status & Status.ERRORS:
            self._host.trace(TraceEvent.POLL_HIT, 0, self.vi.number, self.vi.kernel.peer)
        return descriptor


class Vi:
    """One end of a connection."""

    def __init__(self, nic: VipNic, kernel: KernelVi) -> None:
        self.nic, self.kernel, self.number = nic, kernel, kernel.number
        self.sends, self.receives = WorkQueue(self, SENT), WorkQueue(self, RECEIVED)
        self.queues: set[CompletionQueue] = set()
        self.error_handler: Callable[[], None] | None = None

    @property
    def state(self) -> State:
        """Connected, closed, or broken."""
        return self.kernel.state

    @property
    def reliability(self) -> Reliability:
        """Its level."""
        return self.kernel.reliability

    async def post_send(self, descriptor: Descriptor) -> None:
        """VipPostSend: a send or an RDMA write."""
        await self.sends.post(descriptor)

    async def post_receive(self, descriptor: Descriptor) -> None:
        """VipPostRecv."""
        await self.receives.post(descriptor)

    async def send_done(self) -> Descriptor | None:
        """VipSendDone: the oldest send if it is done."""
        return await self.sends.done()

    async def receive_done(self) -> Descriptor | None:
        """VipRecvDone."""
        return await self.receives.done()

    async def poll_send(self) -> Descriptor:
        """VipSendDone again and again until it gives one."""
        return await self.sends.poll()

    async def poll_receive(self) -> Descriptor:
        """VipRecvDone again and again until it gives one."""
        return await self.receives.poll()

    async def send_wait(self, timeout_us: float | None = None) -> Descriptor:
        """VipSendWait: sleep until the oldest send is done."""
        return await self.sends.wait(timeout_us)

    async def receive_wait(self, timeout_us: float | None = None) -> Descriptor:
        """VipRecvWait."""
        return await self.receives.wait(timeout_us)

    def send_notify(self, handler: Handler) -> None:
        """VipSendNotify: call `handler(vi, descriptor)` in a thread of its own when the next send is done. Raises
        VipError.
        """
        self.nic.notify(self, self.sends, handler)

    def receive_notify(self, handler: Handler) -> None:
        """VipRecvNotify."""
        self.nic.notify(self, self.receives, handler)

    def on_error(self, handler: Callable[[], None]) -> None:
        """VipErrorCallback for one VI: call `handler()` in a thread of its own whenever its connection breaks; not for
        the process's own disconnect. Raises VipError.
        """
        self.kernel.check("asking for errors of")
        handler_of(handler)
        self.error_handler = handler

    async def query(self) -> ViState:
        """VipQueryVi. Raises VipError."""
        self.kernel.check("asking for")
        await self.nic.process.syscall()
        return ViState(self.state, self.kernel.attributes, not len(self.sends), not len(self.receives))

    async def set_attributes(self, attributes: ViAttributes) -> None:
        """VipSetViAttributes. Raises VipError while it is connected, or descriptors are posted."""
        await self.nic.set_vi(self, attributes)

    async def connect_request(self, node: int, discriminator: int, timeout_us: float) -> ViAttributes:
        """VipConnectRequest: become connected to whoever waits at the node for this discriminator; the attributes of
        its VI, but for its tag and rights. Raises VipError.
        """
        self._connecting(discriminator, timeout_us)
        await self.nic.process.syscall()
        return await self.nic.agent.request(self.kernel, node, discriminator, timeout_us)

    async def connect_peer_request(self, node: int, discriminator: int, timeout_us: float) -> None:
        """VipConnectPeerRequest: begin to become connected to whoever asks there for a peer here. Raises VipError."""
        self._connecting(discriminator, timeout_us)
        await self.nic.process.syscall()
        await self.nic.agent.peers.request(self.kernel, node, discriminator, timeout_us)

    def _connecting(self, discriminator: int, timeout_us: float) -> None:
        """Whether this can be asked for. Raises VipError."""
        self.kernel.check("connecting")
        whole("a discriminator", discriminator, 0, WORD)
        time_limit(timeout_us)

    async def connect_peer_done(self) -> ViAttributes | None:
        """VipConnectPeerDone: attributes of the peer's VI; None while there is none. Raises VipError: why not."""
        self.kernel.check("asking for the peer of")
        await self.nic.process.syscall()
        return self.nic.agent.peers.result(self.kernel)

    async def connect_peer_wait(self) -> ViAttributes:
        """VipConnectPeerWait: the same, when it is over. Raises VipError."""
        self.kernel.check("waiting for the peer of")
        await self.nic.process.syscall()
        return await self.nic.agent.peers.wait(self.kernel)

    async def disconnect(self) -> None:
        """VipDisconnect: end the connection; what is posted is flushed. Raises VipError."""
        self.kernel.check("disconnecting")
        await self.nic.process.syscall()
        await self.nic.agent.disconnect(self.kernel)

    async def destroy(self) -> None:
        """VipDestroyVi. Raises VipError while it is connected, or descriptors are posted."""
        self.kernel.check("destroying")
        pending = self.nic.agent.peers.pending(self.kernel)
        if self.state is State.CONNECTED or pending or len(self.sends) or len(self.receives):
            raise VipError(Result.INVALID_STATE, f"destroying VI {self.number}", "disconnect, take descriptors back")
        await self.nic.forget(self)
