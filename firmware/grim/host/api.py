"""Calls of the GRIM library, by the names of paper 003, appendix C; each is defined in one part of `Grim`."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from firmware.grim.formats import Device
from firmware.grim.host.card_calls import Cards
from firmware.grim.host.database import Database
from firmware.grim.host.handlers import Handler
from firmware.grim.host.memory_calls import RemoteMemory
from firmware.grim.host.messages import Messages
from firmware.grim.host.nodes import Nodes
from firmware.grim.host.reserved import ReservedMemory
from firmware.grim.host.segments import Payload
from firmware.grim.host.tree_calls import Multicast
from pymodels.card.registers import Forward


class Api:
    """Calls of one host's library. Invalid arguments and calls before `grim_enable` raise GrimError."""

    nodes: Nodes
    database: Database
    messages: Messages
    memory: RemoteMemory
    reserved: ReservedMemory
    trees: Multicast
    cards: Cards

    # ---- nodes (table C.1) and references (table C.2)

    def get_vnn_from_name(self, name: str) -> int:
        """Return the virtual node number of a host (`grim_getVNNFromName`)."""
        return self.nodes.get_vnn_from_name(name)

    def get_vnn_name(self, vnn: int) -> str:
        """Return the name of a node (`grim_getVNNName`)."""
        return self.nodes.get_vnn_name(vnn)

    def get_my_vnn(self) -> int:
        """Return this host's virtual node number (`grim_getMyVNN`)."""
        return self.nodes.get_my_vnn()

    def get_my_name(self) -> str:
        """Return this host's name (`grim_getMyName`)."""
        return self.nodes.get_my_name()

    def vnn_configuration(self) -> str:
        """Return one line for each host with its virtual and physical node number; this host's line is marked."""
        return self.nodes.vnn_configuration()

    def print_vnn_configuration(self) -> None:
        """Print `vnn_configuration` (`grim_printVNNConfiguration`)."""
        self.nodes.print_vnn_configuration()

    def get_dest_id(self, vnn: int, device: int = Device.HOST, channel: int = 0) -> int:
        """Return the 32-bit reference of the endpoint of a node, device type and channel (`grim_getDestID`)."""
        return self.nodes.get_dest_id(vnn, device, channel)

    def get_resource(self, vnn: int, device: int, channel: int = 0) -> int:
        """Return the reference of an endpoint of a device type on node `vnn` (`grim_getResource`).

        ANY_VNN selects the first node that has such a device.
        """
        return self.nodes.get_resource(vnn, device, channel)

    def get_process(self, vnn: int, process: str) -> int:
        """Return the reference of the endpoint of a process on node `vnn`, by its name in a CHANNEL line."""
        return self.nodes.get_process(vnn, process)

    # ---- handlers (table C.3)

    def register_handler(self, function: Handler, name: str) -> None:
        """Register a handler of this host (`grim_register_handler`). Other hosts can use it after `sync_handlers`."""
        self.database.register_handler(function, name)

    async def sync_handlers(self) -> None:
        """Publish this host's handlers and learn those of others from the server on node 0 (`grim_syncHandlers`).

        The circuits of this host's card are handlers too, and the card learns their numbers.
        """
        await self.database.sync_handlers()

    async def resolve_handler(self, name: str) -> int:
        """Return the number of a handler (`grim_resolveHandler`), requested from the server if it is unknown here."""
        return await self.database.resolve_handler(name)

    # ---- active messages (table C.4): these calls return the part's coroutine, which saves a frame each time it runs

    def send(
        self,
        destination: int,
        handler: int,
        a0: int = 0,
        a1: int = 0,
        a2: int = 0,
        a3: int = 0,
        payload: Payload = b"",
        *,
        channel: int = 0,
    ) -> Coroutine[Any, Any, None]:
        """Run a handler at an endpoint (`grim_send`). Polls once first, and polls while the channel's queue is full.

        Args:
            destination: Reference of the endpoint.
            handler: Number of the handler.
            a0: Argument of 32 bits, as are `a1`, `a2` and `a3`.
            a1: Second argument.
            a2: Third argument.
            a3: Fourth argument.
            payload: Up to 16 MB: bytes, an object with the buffer protocol, or a region of host memory (`address`,
                `size`).
            channel: Channel of this host; messages of one channel arrive in order.
        """
        return self.messages.send(destination, handler, a0, a1, a2, a3, payload, channel=channel)

    def poll(self, channel: int | None = None) -> Coroutine[Any, Any, int]:
        """Process received messages of all channels, or of one, and return the number of handlers that ran
        (`grim_poll`).
        """
        return self.messages.poll(channel)

    def wait_for(self, condition: Callable[[], bool]) -> Coroutine[Any, Any, None]:
        """Poll until a condition holds: `while (!condition) grim_poll();`, simulated without idle rounds."""
        return self.messages.wait_for(condition)

    # ---- remote memory (paper 003, C.5)

    async def malloc_pinned(self, size: int) -> int:
        """Return the virtual address of a new block of up to 4 MB, physically contiguous (`grim_malloc_pinned`)."""
        return await self.memory.malloc_pinned(size)

    async def pin_user_memory(self, size: int) -> int:
        """Return the virtual address of new user-space memory, its pages pinned (paper 000, 4.5.1)."""
        return await self.memory.pin_user_memory(size)

    async def free_pinned_va(self, address: int) -> None:
        """Free a block of pinned memory of either kind (`grim_free_pinned_va`)."""
        await self.memory.free_pinned_va(address)

    def get_pinned_pa(self, address: int) -> int:
        """Return the physical address of a virtual address of pinned memory (`grim_get_pinned_pa`)."""
        return self.memory.get_pinned_pa(address)

    def get_pinned_va(self, address: int) -> int:
        """Return the virtual address of a physical address of pinned memory (`grim_get_pinned_va`)."""
        return self.memory.get_pinned_va(address)

    def load_pinned(self, address: int, size: int) -> bytes:
        """Load bytes from pinned memory, as the application does."""
        return self.memory.load_pinned(address, size)

    def store_pinned(self, address: int, data: bytes | memoryview) -> None:
        """Store bytes to pinned memory, as the application does."""
        self.memory.store_pinned(address, data)

    async def send_memory(
        self,
        destination: int,
        target: int,
        source: int,
        size: int,
        *,
        lock: int = 0,
        value: int = 0,
        channel: int = 0,
    ) -> None:
        """Write pinned memory to another host (`grim_sendMemory`). Returns when the source may be changed.

        Args:
            destination: Reference of the other host's endpoint.
            target: Virtual address at the destination.
            source: Virtual address in this host's pinned memory.
            size: Bytes.
            lock: Virtual address at the destination to which its NI writes `value` after the last byte; 0: none.
            value: Word for `lock`.
            channel: Channel of this host.
        """
        await self.memory.send_memory(destination, target, source, size, lock=lock, value=value, channel=channel)

    async def send_physical_memory(
        self,
        destination: int,
        target: int,
        source: int,
        size: int,
        *,
        lock: int = 0,
        value: int = 0,
        channel: int = 0,
    ) -> None:
        """Write pinned memory to a physical address of another host, without translation or check.

        `grim_sendPhysicalMemory`, with the arguments of `send_memory`.
        """
        memory = self.memory
        await memory.send_physical_memory(destination, target, source, size, lock=lock, value=value, channel=channel)

    async def fetch_memory(
        self, destination: int, target: int, source: int, size: int, *, lock: int = 0, channel: int = 0
    ) -> None:
        """Read memory of another host into pinned memory (`grim_fetchMemory`). Returns when the NI has the request.

        Args:
            destination: Reference of the other host's endpoint.
            target: Virtual address in this host's pinned memory.
            source: Virtual address at the destination.
            size: Bytes.
            lock: Virtual address in this host's pinned memory to which its NI writes 0 after the last byte; 0: none.
            channel: Channel of this host.
        """
        await self.memory.fetch_memory(destination, target, source, size, lock=lock, channel=channel)

    async def wait_for_lock(self, lock: int, value: int) -> None:
        """Poll until a lock has a value: `while (*lock != value) grim_poll();`, simulated without idle rounds."""
        await self.memory.wait_for_lock(lock, value)

    # ---- memory of the NI

    def reserve_ni_memory(self, size: int) -> None:
        """Reserve NI memory, once and before `grim_enable` (`grim_reserveNIMemory`)."""
        self.reserved.reserve_ni_memory(size)

    def get_reserved_ni_memory(self) -> tuple[int, int]:
        """Return the virtual and physical address of the reserved memory (`grim_getReservedNIMemory`)."""
        return self.reserved.get_reserved_ni_memory()

    # ---- multicast (paper 003, C.6)

    async def find_multicast_tree(self, name: str) -> int:
        """Return the number of a tree (`grim_findMulticastTree`). The first caller creates and owns the tree."""
        return await self.trees.find_multicast_tree(name)

    async def subscribe_multicast(self, tree: int, channels: int) -> int:
        """Subscribe channels of this host to a tree, and return the tree (`grim_subscribeMulticast`).

        Bit i of `channels` is channel i (0..7).
        """
        return await self.trees.subscribe_multicast(tree, channels)

    async def subscribe_multicast_by_name(self, name: str, channels: int) -> int:
        """Find a tree, subscribe to it, and return its number (`grim_subscribeMulticastByName`)."""
        return await self.trees.subscribe_multicast_by_name(name, channels)

    async def unsubscribe_multicast(self, tree: int, channels: int) -> None:
        """End the subscription of the channels of a mask to a tree (`grim_unsubscribeMulticast`)."""
        await self.trees.unsubscribe_multicast(tree, channels)

    async def send_mc(
        self,
        tree: int,
        handler: int,
        a0: int = 0,
        a1: int = 0,
        a2: int = 0,
        a3: int = 0,
        payload: Payload = b"",
        *,
        channel: int = 0,
    ) -> None:
        """Run a handler at every endpoint that has subscribed to a tree (`grim_sendMC`).

        The arguments are those of `send`. The source that the handler sees is the NI that sent the last copy.
        """
        await self.trees.send_mc(tree, handler, a0, a1, a2, a3, payload, channel=channel)

    async def broadcast(
        self,
        handler: int,
        a0: int = 0,
        a1: int = 0,
        a2: int = 0,
        a3: int = 0,
        payload: Payload = b"",
        *,
        channel: int = 0,
    ) -> None:
        """Run a handler on channel 0 of every host of the cluster, this one included (`grim_broadcast`).

        The arguments are those of `send`.
        """
        await self.trees.broadcast(handler, a0, a1, a2, a3, payload, channel=channel)

    # ---- cards (paper 000, 4.3)

    async def forward(self, card: int, circuit: str, mode: Forward, target: int = 0, handler: int = 0) -> None:
        """Set the destination of the results of an FPGA card's circuit. Returns when the message has been sent.

        Args:
            card: Reference of the card's endpoint.
            circuit: Name of the circuit.
            mode: Discard the results, send them to `handler` of endpoint or tree `target`, send them back, write them
                into the memory of `target`, or read memory of `target` as they say (`Forward`).
            target: Reference of the endpoint for the results or of the memory, or number of the multicast tree.
            handler: Number of its handler; not with memory.
        """
        await self.cards.forward(card, circuit, mode, target, handler)
