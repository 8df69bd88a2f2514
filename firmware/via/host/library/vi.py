"""A VI as its process has it: a send and a receive queue (VipPost..., Vip...Done, Vip...Wait, Vip...Notify)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from firmware.via.formats import Reliability
from firmware.via.host.common.attributes import ViAttributes, ViState
from firmware.via.host.common.checks import WORD, handler_of, kind_of, time_limit, whole
from firmware.via.host.common.errors import Result, VipError
from firmware.via.host.common.waiting import Handler
from firmware.via.host.common.work_queues import RECEIVED, SENT
from firmware.via.host.kernel_agent.vis.table import KernelVi
from firmware.via.host.library.descriptor import Descriptor
from firmware.via.host.library.open_nic import OpenNic
from firmware.via.host.library.work_queue import WorkQueue
from firmware.via.nic.layout import State
from pymodels.host import Sig


class Completions(Protocol):
    """A completion queue, as a VI sees it."""

    def attach(self, vi: Vi, queue: WorkQueue) -> None:
        """Completions of a work queue come here."""

    def detach(self, vi: Vi) -> None:
        """A VI that used it is no more."""


class Vi:
    """One end of a connection."""

    def __init__(
        self, nic: OpenNic, vi: KernelVi, send_queue: Completions | None, receive_queue: Completions | None
    ) -> None:
        """`send_queue`, `receive_queue`: where the completions of its two work queues come, if anywhere."""
        self.nic, self.kernel_vi, self.context, self.number = nic, vi, vi.context, vi.context.number
        self.sends, self.receives = WorkQueue(nic, vi, SENT), WorkQueue(nic, vi, RECEIVED)
        self.error_handler: Callable[[], None] | None = None
        self._completions = [queue for queue in (send_queue, receive_queue) if queue is not None]
        if send_queue is not None:
            send_queue.attach(self, self.sends)
        if receive_queue is not None:
            receive_queue.attach(self, self.receives)

    @property
    def state(self) -> State:
        """Connected, closed, or broken."""
        return self.context.state

    @property
    def reliability(self) -> Reliability:
        """Its level."""
        return self.context.reliability

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
        self._notify(self.sends, handler)

    def receive_notify(self, handler: Handler) -> None:
        """VipRecvNotify."""
        self._notify(self.receives, handler)

    async def send_signal(self, sig: Sig | None) -> None:
        """Have the kernel send this process a signal whenever a send is done, until it is asked for None. What the
        process does then is its handler's (`Process.on_signal`): to take back all that is done. Raises VipError.
        """
        await self._signal(self.sends, sig)

    async def receive_signal(self, sig: Sig | None) -> None:
        """The same for receives."""
        await self._signal(self.receives, sig)

    async def _signal(self, queue: WorkQueue, sig: Sig | None) -> None:
        self.context.check("asking for signals of")
        if sig is not None:
            kind_of(sig, Sig, "give a Sig, or None for no more")
        await self.nic.tell(self.number, queue.side, queue.over, sig)

    def _notify(self, queue: WorkQueue, handler: Handler) -> None:
        """Start the thread that calls a handler for the next descriptor of a queue. Raises VipError."""
        self.context.check("waiting at")
        handler_of(handler)

        async def thread() -> None:
            """Sleep, then call."""
            descriptor = await queue.wait(None)
            called = handler(self, descriptor)
            if called is not None:
                await called

        self.nic.process.spawn(thread(), f"notify of VI {self.number}")

    def on_error(self, handler: Callable[[], None]) -> None:
        """VipErrorCallback for one VI: call `handler()` in a thread of its own whenever its connection breaks; not for
        the process's own disconnect. Raises VipError.
        """
        self.context.check("asking for errors of")
        handler_of(handler)
        self.error_handler = handler

    async def query(self) -> ViState:
        """VipQueryVi. Raises VipError."""
        self.context.check("asking for")
        await self.nic.process.syscall()
        return ViState(self.state, self.context.attributes, not len(self.sends), not len(self.receives))

    async def set_attributes(self, attributes: ViAttributes) -> None:
        """VipSetViAttributes. Raises VipError while it is connected, or descriptors are posted."""
        nic, context = self.nic, self.context
        context.check("changing")
        check_attributes(nic, attributes)
        await nic.process.syscall()
        await nic.process.spend("create_vi")
        with context.change("changing"):
            nic.agent.connections.peers.unconnected(context)
            if await self.kernel_vi.posting.busy():
                raise VipError(Result.INVALID_STATE, f"changing VI {self.number}", "take its descriptors back first")
            await context.set_attributes(attributes)

    async def connect_request(self, node: int, discriminator: int, timeout_us: float) -> ViAttributes:
        """VipConnectRequest: become connected to whoever waits at the node for this discriminator; the attributes of
        its VI, but for its tag and rights. Raises VipError.
        """
        self._connecting(discriminator, timeout_us)
        await self.nic.process.syscall()
        return await self.nic.agent.connections.client.request(self.context, node, discriminator, timeout_us)

    async def connect_peer_request(self, node: int, discriminator: int, timeout_us: float) -> None:
        """VipConnectPeerRequest: begin to become connected to whoever asks there for a peer here. Raises VipError."""
        self._connecting(discriminator, timeout_us)
        await self.nic.process.syscall()
        await self.nic.agent.connections.peers.request(self.context, node, discriminator, timeout_us)

    def _connecting(self, discriminator: int, timeout_us: float) -> None:
        """Whether this can be asked for. Raises VipError."""
        self.context.check("connecting")
        whole("a discriminator", discriminator, 0, WORD)
        time_limit(timeout_us)

    async def connect_peer_done(self) -> ViAttributes | None:
        """VipConnectPeerDone: attributes of the peer's VI; None while there is none. Raises VipError: why not."""
        self.context.check("asking for the peer of")
        await self.nic.process.syscall()
        return self.nic.agent.connections.peers.result(self.context)

    async def connect_peer_wait(self) -> ViAttributes:
        """VipConnectPeerWait: the same, when it is over. Raises VipError."""
        self.context.check("waiting for the peer of")
        await self.nic.process.syscall()
        return await self.nic.agent.connections.peers.wait(self.context)

    async def disconnect(self) -> None:
        """VipDisconnect: end the connection; what is posted is flushed. Raises VipError."""
        self.context.check("disconnecting")
        await self.nic.process.syscall()
        await self.nic.agent.connections.disconnect(self.context)

    async def destroy(self) -> None:
        """VipDestroyVi. Raises VipError while it is connected, or descriptors are posted."""
        self.context.check("destroying")
        pending = self.nic.agent.connections.peers.pending(self.context)
        if self.state is State.CONNECTED or pending or len(self.sends) or len(self.receives):
            raise VipError(Result.INVALID_STATE, f"destroying VI {self.number}", "disconnect, take descriptors back")
        nic = self.nic
        with self.context.change("destroying"):
            await nic.process.syscall()
            await nic.process.spend("destroy_vi")
            if len(self.sends) or len(self.receives) or await self.kernel_vi.posting.busy():
                what = f"destroying VI {self.number}"
                raise VipError(Result.INVALID_STATE, what, "wait until its descriptors are done")
            await nic.agent.destroy(self.kernel_vi)
            for queue in dict.fromkeys(self._completions):
                queue.detach(self)


def check_attributes(nic: OpenNic, attributes: ViAttributes) -> None:
    """Whether a VI can have such attributes. Raises VipError."""
    nic.check("making or changing a VI of")
    nic.check_tag(attributes.tag)
    if attributes.reliability not in list(Reliability):
        what = f"reliability level {attributes.reliability!r}"
        raise VipError(Result.INVALID_RELIABILITY_LEVEL, what, "give one of `Reliability`")
    whole("bytes of a message", attributes.most, 1, nic.options.transfer, Result.INVALID_MTU)
