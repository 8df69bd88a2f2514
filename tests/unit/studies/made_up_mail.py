"""Hosts of constant times for tests of measurements: what a measurement must find is known to the picosecond."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Coroutine
from types import SimpleNamespace
from typing import Any

from firmware.mail import Mail, Message
from pymodels.kernel import Kernel
from tb.lab.lab import Notebook
from tb.studies.kit.mail import End

SEND_PS, WIRE_PS, RECEIVE_PS = 2_000_000, 5_000_000, 1_000_000
"""CPU time of a send, time on the wire, CPU time of a receive."""
ONE_WAY_PS = SEND_PS + WIRE_PS + RECEIVE_PS
START_PS = Kernel().now
"""Time at which a kernel begins."""


class MadeUpLab(Notebook):
    """Results and tasks of a study without a cluster; `settings` are those of the user."""

    def __init__(self, settings: tuple[str, ...] = ()) -> None:
        super().__init__()
        self._kernel = Kernel()
        self.plan = SimpleNamespace(request=SimpleNamespace(settings=settings))

    @property
    def kernel(self) -> Kernel:
        """The kernel of the test."""
        return self._kernel

    def finish(self, study: Coroutine[Any, Any, Any]) -> Any:
        """Run a study to its end and return its result."""
        task = self._kernel.spawn(study, "the study")
        self._kernel.run()
        return task.finished.value


class MadeUpMail(Mail):
    """Mail of a host of constant times."""

    most = 1 << 16

    def __init__(self, kernel: Kernel, node: int) -> None:
        self.kernel, self.node = kernel, node
        self.host: Any = SimpleNamespace(cpu_ps=0)
        self.hosts: list[MadeUpMail] = []
        self.changed = False
        """True if the host sends other bytes than those it was given."""
        self.doubled = False
        """True if each message arrives twice."""
        self.waited = 0
        """Calls of `posted`."""
        self._inbox: deque[Message] = deque()
        self._arrival = kernel.future()

    async def start(self) -> None:
        """Do nothing: this mail needs no preparation."""

    async def _send(self, node: int, data: bytes) -> None:
        """Take the CPU time of a send; the message arrives after the time on the wire."""
        await self._work(SEND_PS)
        sent = data[:-1] + b"?" if self.changed else data
        for _ in range(1 + self.doubled):
            self.kernel.at(self.kernel.now + WIRE_PS, lambda: self.hosts[node].take((self.node, sent)))

    async def posted(self) -> None:
        """Count the call."""
        self.waited += 1

    def take(self, message: Message) -> None:
        """Add an arrived message to the inbox and wake its receiver."""
        self._inbox.append(message)
        arrival, self._arrival = self._arrival, self.kernel.future()
        arrival.set(None)

    async def receive(self) -> Message:
        """Wait for a message and take the CPU time of a receive."""
        while not self._inbox:
            await self._arrival
        await self._work(RECEIVE_PS)
        return self._inbox.popleft()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Raise NotImplementedError, since no test waits for a condition."""
        raise NotImplementedError

    async def _work(self, ps: int) -> None:
        await self.kernel.sleep(ps, "made-up work")
        self.host.cpu_ps += ps


def ends(lab: MadeUpLab, count: int = 2) -> list[End]:
    """Return `count` hosts that can send to each other."""
    mails = [MadeUpMail(lab.kernel, node) for node in range(count)]
    for mail in mails:
        mail.hosts = mails
    return [End(node, mail) for node, mail in enumerate(mails)]


def pair(lab: MadeUpLab) -> tuple[End, End]:
    """Return two hosts that can send to each other."""
    near, far = ends(lab)
    return near, far
