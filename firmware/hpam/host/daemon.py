"""Scheduling daemon: gives the card to one process of a host at a time (paper 002).

Every quantum, if there are several processes, the next one gets the card. The daemon stops the active process between
two polls of the card, or at the end of its current call. A process that does not use the network is not stopped. The
daemon saves the card buffers of the active process, and moves messages from its output queue to the input queues of
other processes. Then the daemon restores the buffers of the next process.
"""

from __future__ import annotations

from typing import Protocol

from firmware.hpam.host.message import FORMAT, SLOTS, Header
from firmware.hpam.host.queues import SLOT, Queue
from firmware.hpam.host.slots import Slots
from firmware.hpam.options import Options
from firmware.nics.fifo.buffers import DAMAGED, ONCE_NS, BufferPort, mapped, received_at
from firmware.verbs import Host
from firmware.view import ClusterView
from pymodels.host.process import Process
from pymodels.host.signals import Sig
from pymodels.nics.fifo.registers import Region, Status


class Holder(Protocol):
    """Interface of a process that can have the card."""

    process: Process
    key: int
    slots: Slots
    incoming: Queue
    outgoing: Queue
    busy: bool
    """True while the process is in a call that uses the card."""
    spinning: bool
    """True while the process polls the card and can be stopped by a signal."""

    def saved(self) -> int:
        """Return the process's address of the memory for its saved card buffers."""


class Daemon:
    """Scheduling daemon of one host."""

    def __init__(self, host: Host, view: ClusterView) -> None:
        self.host = host
        self.options = Options.from_values(view.options)
        self.partners = sorted(vnn for vnn in view.routes if vnn != view.me)
        self.active: Holder | None = None
        self.turned = host.event("the card")
        self.gone = host.event("the process that has the card to stop")
        self._more = host.event("a second process")
        self._holders: list[Holder] = []
        self._slots: dict[int, Slots] = {}
        self._started = False
        self._process: Process
        self._port: BufferPort
        self.switches = self.moved = self.unclaimed = 0
        """Numbers of switches, of messages moved, and of messages dropped for lack of an owner or of room."""
        self.switch_ps = 0
        """Total time of the switches, ps."""

    @property
    def pool(self) -> int:
        """Number of buffers of the receive pool: two times four for each partner."""
        return 2 * SLOTS * len(self.partners)

    async def start(self) -> None:
        """Initialise the card, once a host."""
        if self._started:
            return
        self._started = True
        self._process = self.host.process("hpam daemon")
        at = mapped(self._process)
        self._port, self._status = BufferPort(self._process, at), at(Region.STATUS)
        await self._port.start(range(1 + self.pool, 1 + 2 * self.pool))
        self.host.spawn(self._run(), "hpam daemon")

    def join(self, holder: Holder) -> None:
        """Register a process that opens the card."""
        self._holders.append(holder)
        if self.active is None and len(self._holders) == 1:
            self.active = holder
        self._more.set()

    async def leave(self, holder: Holder) -> None:
        """Remove a process that closes the card."""
        while self.active is None:  # a switch is in progress
            await self.turned.wait()
        self._holders.remove(holder)
        if self.active is not holder:
            return
        if self._holders:
            await self._give(holder, self._holders[0])
        else:
            self.active = None

    def holder(self, key: int) -> Holder | None:
        """Return the process of a program, or None."""
        return next((one for one in self._holders if one.key == key), None)

    def slots(self, key: int) -> Slots:
        """Return the buffer state of a program; a program that is opened again continues with its old state."""
        return self._slots.setdefault(key, Slots(self.partners))

    async def arrived(self) -> int:
        """Return the number of packets in the card that no process has taken."""
        return await self._port.arrived()

    async def _run(self) -> None:
        while True:
            while len(self._holders) < 2:
                await self._more.wait()
            await self.host.sleep(self.options.quantum_us * 1_000_000, "the end of a quantum")
            old = self.active
            if old is not None and len(self._holders) > 1:
                at = self._holders.index(old)
                await self._give(old, self._holders[(at + 1) % len(self._holders)])

    async def _give(self, old: Holder, new: Holder) -> None:
        """Switch the card from one process to another."""
        self.active, begun = None, self.host.now
        await self._process.spend("hpam_switch")
        if old.spinning:
            await self._process.kill(old.process.number, Sig.USR1)
        while old.busy or old.spinning:
            await self.gone.wait()
        await self._drain()
        for buffer, sent in old.slots.used():
            old.process.store_bytes(old.saved() + buffer * SLOT, await self._port.saved(buffer, sent.size))
        while len(old.outgoing):
            await self._move(old.outgoing)
        for buffer, sent in new.slots.used():
            await self._process.spend("store_word", sent.size // 4)
            await self._port.restore(buffer, new.process.load_bytes(new.saved() + buffer * SLOT, sent.size))
        self.switches += 1
        self.switch_ps += self.host.now - begun
        self.active = new
        self.turned.set()

    async def _drain(self) -> None:
        """Wait until the card has sent everything; move packets that arrive meanwhile to the input queues."""
        while True:
            status = await self._process.pio_read(self._status)
            await self._process.spend("hpam_look_idle")
            if status >> Status.IDLE & 1:
                return
            if status >> Status.ARRIVED & 1:
                await self._clear()
            await self._process.give_way()

    async def _clear(self) -> None:
        """Move the oldest packet of the pool to the input queue of its process, or drop it if the queue is full."""
        ready = await self._port.ready(ONCE_NS)
        if ready is None:
            return
        header = Header.decode(await self._port.words(ready, 0, FORMAT.size // 4))
        await self._process.spend("hpam_move")
        owner = None if ready & DAMAGED else self.holder(header.key)
        if owner is None or owner.incoming.full:
            self.unclaimed += 1
        else:
            va, physical = owner.incoming.room()
            body = await self._port.load(ready, FORMAT.size, header.body)
            self.host.put_message(physical, self.host.message_at(self.host.nic_base + received_at(ready)))
            owner.process.store_bytes(va, header.packed() + body)
            owner.incoming.put(self.host.now)
        await self._port.done(ready)

    async def _move(self, queue: Queue) -> None:
        """Move the oldest message of an output queue to the process with its key.

        A message without room is dropped, and retransmitted by its sender.
        """
        _, source = queue.first()
        header = Header.decode(self.host.load_bytes(source, FORMAT.size))
        await self._process.spend("hpam_move")
        owner = self.holder(header.key)
        since = queue.take()
        if owner is None or owner.incoming.full:
            self.unclaimed += 1
            return
        _, target = owner.incoming.room()
        self.host.put_message(target, self.host.message_at(source))
        await self.host.copy_memory("hpam_copy", target, source, FORMAT.size + header.body)
        owner.incoming.put(since)
        self.moved += 1
