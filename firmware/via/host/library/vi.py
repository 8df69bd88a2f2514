"""VI of a process: a send and a receive queue (VipPost..., Vip...Done, Vip...Wait, Vip...Notify)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from firmware.via.formats import Reliability
from firmware.via.host.common.attributes import ViAttributes, ViState
from firmware.via.host.common.checks import WORD, check_callable, check_integer, check_time_limit, check_type
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
    """Completion queue, as a VI uses it."""

    def attach(self, vi: Vi, queue: WorkQueue) -> None:
        """Add a work queue whose completions go to this queue."""

    def detach(self, vi: Vi) -> None:
        """Remove a destroyed VI."""


class Vi:
    """End of a connection."""

    def __init__(
        self, nic: OpenNic, vi: KernelVi, send_queue: Completions | None, receive_queue: Completions | None
    ) -> None:
        """Create a VI with optional completion queues for its two work queues."""
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
        """State: closed, connected, or broken."""
        return self.context.state

    @property
    def reliability(self) -> Reliability:
        """Reliability level."""
        return self.context.reliability

    async def post_send(self, descriptor: Descriptor) -> None:
        """Post a send or RDMA operation (VipPostSend). Raises VipError."""
        await self.sends.post(descriptor)

    async def post_receive(self, descriptor: Descriptor) -> None:
        """Post a receive (VipPostRecv). Raises VipError."""
        await self.receives.post(descriptor)

    async def send_done(self) -> Descriptor | None:
        """Take back the oldest send if it is complete, or return None (VipSendDone)."""
        return await self.sends.done()

    async def receive_done(self) -> Descriptor | None:
        """Take back the oldest receive if it is complete, or return None (VipRecvDone)."""
        return await self.receives.done()

    async def poll_send(self) -> Descriptor:
        """Spin on VipSendDone until it returns a descriptor."""
        return await self.sends.poll()

    async def poll_receive(self) -> Descriptor:
        """Spin on VipRecvDone until it returns a descriptor."""
        return await self.receives.poll()

    async def send_wait(self, timeout_us: float | None = None) -> Descriptor:
        """Sleep until the oldest send is complete, and take it back (VipSendWait)."""
        return await self.sends.wait(timeout_us)

    async def receive_wait(self, timeout_us: float | None = None) -> Descriptor:
        """Sleep until the oldest receive is complete, and take it back (VipRecvWait)."""
        return await self.receives.wait(timeout_us)

    def send_notify(self, handler: Handler) -> None:
        """Call `handler(vi, descriptor)` in a new thread when the next send is complete (VipSendNotify).

        Raises VipError.
        """
        self._notify(self.sends, handler)

    def receive_notify(self, handler: Handler) -> None:
        """Call `handler(vi, descriptor)` in a new thread when the next receive is complete (VipRecvNotify)."""
        self._notify(self.receives, handler)

    async def send_signal(self, sig: Sig | None) -> None:
        """Send this process a signal whenever a send is complete; None cancels it. Raises VipError.

        The process's signal handler (`Process.on_signal`) takes back all complete descriptors.
        """
        await self._signal(self.sends, sig)

    async def receive_signal(self, sig: Sig | None) -> None:
        """Send this process a signal whenever a receive is complete; None cancels it. Raises VipError."""
        await self._signal(self.receives, sig)

    async def _signal(self, queue: WorkQueue, sig: Sig | None) -> None:
        self.context.check("requesting signals of")
        if sig is not None:
            check_type(sig, Sig, "give a Sig, or None to cancel")
        await self.nic.request_signal(self.number, queue.side, queue.over, sig)

    def _notify(self, queue: WorkQueue, handler: Handler) -> None:
        """Start the thread that calls a handler for the next descriptor of a queue. Raises VipError."""
        self.context.check("waiting at")
        check_callable(handler)

        async def thread() -> None:
            """Sleep until a descriptor is complete, then call the handler."""
            descriptor = await queue.wait(None)
            called = handler(self, descriptor)
            if called is not None:
                await called

        self.nic.process.spawn(thread(), f"notify of VI {self.number}")

    def on_error(self, handler: Callable[[], None]) -> None:
        """Call `handler()` in a new thread whenever the connection of this VI breaks (VipErrorCallback).

        The handler is not called for disconnects by the process itself. Raises VipError.
        """
        self.context.check("setting the error handler of")
        check_callable(handler)
        self.error_handler = handler

    async def query(self) -> ViState:
        """Return state, attributes, and whether the queues are empty (VipQueryVi). Raises VipError."""
        self.context.check("querying")
        await self.nic.process.syscall()
        return ViState(self.state, self.context.attributes, not len(self.sends), not len(self.receives))

    async def set_attributes(self, attributes: ViAttributes) -> None:
        """Set the attributes (VipSetViAttributes). Raises VipError while connected, or with posted descriptors."""
        nic, context = self.nic, self.context
        context.check("changing")
        check_attributes(nic, attributes)
        await nic.process.syscall()
        await nic.process.spend("create_vi")
        with context.change("changing"):
            nic.agent.connections.peers.unconnected(context)
            if await self.kernel_vi.posting.busy():
                raise VipError(Result.INVALID_STATE, f"changing VI {self.number}", "take back its descriptors first")
            await context.set_attributes(attributes)

    async def connect_request(self, node: int, discriminator: int, timeout_us: float) -> ViAttributes:
        """Connect to a server that waits on a node (VipConnectRequest). Raises VipError.

        Args:
            node: Node of the server.
            discriminator: Number that the server waits for.
            timeout_us: Time limit in microseconds.

        Returns:
            Attributes of the server's VI, without its tag and rights.
        """
        self._connecting(discriminator, timeout_us)
        await self.nic.process.syscall()
        return await self.nic.agent.connections.client.request(self.context, node, discriminator, timeout_us)

    async def connect_peer_request(self, node: int, discriminator: int, timeout_us: float) -> None:
        """Start a connection to a peer that also requests one (VipConnectPeerRequest). Raises VipError.

        Args:
            node: Node of the peer.
            discriminator: Number that both peers name.
            timeout_us: Time limit in microseconds.
        """
        self._connecting(discriminator, timeout_us)
        await self.nic.process.syscall()
        await self.nic.agent.connections.peers.request(self.context, node, discriminator, timeout_us)

    def _connecting(self, discriminator: int, timeout_us: float) -> None:
        """Raise VipError for invalid arguments of a connection request."""
        self.context.check("connecting")
        check_integer("a discriminator", discriminator, 0, WORD)
        check_time_limit(timeout_us)

    async def connect_peer_done(self) -> ViAttributes | None:
        """Return the peer's attributes, or None while pending (VipConnectPeerDone). Raises VipError on failure."""
        self.context.check("querying the peer of")
        await self.nic.process.syscall()
        return self.nic.agent.connections.peers.result(self.context)

    async def connect_peer_wait(self) -> ViAttributes:
        """Wait for the peer, and return its attributes (VipConnectPeerWait). Raises VipError on failure."""
        self.context.check("waiting for the peer of")
        await self.nic.process.syscall()
        return await self.nic.agent.connections.peers.wait(self.context)

    async def disconnect(self) -> None:
        """End the connection and flush posted descriptors (VipDisconnect). Raises VipError."""
        self.context.check("disconnecting")
        await self.nic.process.syscall()
        await self.nic.agent.connections.disconnect(self.context)

    async def destroy(self) -> None:
        """Destroy the VI (VipDestroyVi). Raises VipError while connected, or with posted descriptors."""
        self.context.check("destroying")
        pending = self.nic.agent.connections.peers.pending(self.context)
        if self.state is State.CONNECTED or pending or len(self.sends) or len(self.receives):
            raise VipError(
                Result.INVALID_STATE, f"destroying VI {self.number}", "disconnect it and take back its descriptors"
            )
        nic = self.nic
        with self.context.change("destroying"):
            await nic.process.syscall()
            await nic.process.spend("destroy_vi")
            if len(self.sends) or len(self.receives) or await self.kernel_vi.posting.busy():
                what = f"destroying VI {self.number}"
                raise VipError(Result.INVALID_STATE, what, "wait for its descriptors to complete")
            await nic.agent.destroy(self.kernel_vi)
            for queue in dict.fromkeys(self._completions):
                queue.detach(self)


def check_attributes(nic: OpenNic, attributes: ViAttributes) -> None:
    """Raise VipError for invalid attributes of a VI."""
    nic.check("making or changing a VI of")
    nic.check_tag(attributes.tag)
    if attributes.reliability not in list(Reliability):
        what = f"reliability level {attributes.reliability!r}"
        raise VipError(Result.INVALID_RELIABILITY_LEVEL, what, "give a member of Reliability")
    check_integer("bytes of a message", attributes.most, 1, nic.options.transfer, Result.INVALID_MTU)
