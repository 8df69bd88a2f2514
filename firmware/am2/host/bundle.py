"""A bundle: endpoints that are polled together."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum

from firmware.am2.host.driver import Driver
from firmware.am2.host.endpoint import Endpoint
from firmware.am2.host.errors import Am2Error
from pymodels.host.process import Process


class Mask(IntEnum):
    """For which event a bundle's waits sleep (AM 2.0)."""

    NONE = 0
    """None: they spin."""
    NOT_EMPTY = 1
    """A message has come."""


class Access(IntEnum):
    """Which threads of its process may use a bundle (AM 2.0)."""

    SEQ = 0
    """AM_SEQ: one at a time, as its program promises."""
    PAR = 1
    """AM_PAR: any at any time."""


class Bundle:
    """One thread polls at a time: another one that does so meanwhile handles nothing."""

    def __init__(self, driver: Driver, process: Process, access: Access) -> None:
        self.process, self.access = process, access
        self.endpoints: list[Endpoint] = []
        self.event_mask = Mask.NONE
        """AM_GetEventMask."""
        self._driver = driver
        self._polling = False

    def set_event_mask(self, mask: Mask) -> None:
        """AM_SetEventMask: waits spin (NONE), or sleep until the NIC interrupts (NOT_EMPTY). Raises Am2Error."""
        if mask not in tuple(Mask):
            raise Am2Error(f"{self.process.who}: an event mask", f"{mask!r}", "give NONE or NOT_EMPTY")
        self.event_mask = Mask(mask)

    async def free(self) -> None:
        """AM_FreeBundle: free its endpoints. It may have new ones."""
        for endpoint in self.endpoints:
            if endpoint.is_open:
                await endpoint.free()
        self.endpoints.clear()

    async def allocate_endpoint(self, weight: int = 1) -> Endpoint:
        """AM_AllocateEndpoint: a new one, which nobody can send to until it has a tag. `weight`: messages that it may
        send in a turn. Raises Am2Error.
        """
        endpoint = Endpoint(self._driver, self, await self._driver.allocate(self.process, weight))
        self.endpoints.append(endpoint)
        return endpoint

    def move_endpoint(self, endpoint: Endpoint, bundle: Bundle) -> None:
        """AM_MoveEndpoint: to another bundle of the same process. Raises Am2Error."""
        if endpoint not in self.endpoints or bundle.process is not self.process:
            raise Am2Error("moving an endpoint", "not between bundles of one process", "move it within its process")
        self.endpoints.remove(endpoint)
        bundle.endpoints.append(endpoint)
        endpoint.moved(bundle)

    async def poll(self) -> int:
        """AM_Poll: look once at each endpoint, and handle what has come; how many messages. Within a handler, and while
        another thread polls: none.
        """
        if self._busy:
            return 0
        count, self._polling = 0, True
        try:
            for endpoint in [one for one in self.endpoints if one.is_open]:
                count += await endpoint.look()
        finally:
            self._polling = False
        return count

    @property
    def _busy(self) -> bool:
        """A thread polls, or handles a message."""
        return self._polling or any(endpoint.handling for endpoint in self.endpoints)

    async def until(self, condition: Callable[[], bool], what: str = "a condition", holder: str = "") -> None:
        """Poll until it holds. `what` and its `holder` are what a hang report says of the wait."""
        if condition():
            return
        waits, who = self._driver.host.waits, self.process.who
        waits.want(who, what, holder)
        while not condition():
            if not await self.poll() and not condition():
                await self._come()
        waits.got(who, what)

    async def wait(self) -> None:
        """AM_WaitSema: return when a message has come, which `poll` then handles. Raises Am2Error."""
        if not any(one.is_open for one in self.endpoints):
            raise Am2Error(f"{self.process.who}: waiting", "the bundle has no endpoint", "allocate one")
        while not await self._has_come():
            await self._come()

    async def _has_come(self) -> bool:
        """Look at each endpoint once."""
        return any([await one.has_come() for one in self.endpoints if one.is_open])

    async def _come(self) -> None:
        """Until a message may have come. Of one endpoint the word is polled; several are to be looked at in turn, and
        so is one whose bulk data wait for room, or that several threads use: each lets the others run.
        """
        there = [one for one in self.endpoints if one.is_open]
        if self.event_mask is Mask.NOT_EMPTY and there and not any(one.starved for one in there):
            await self._sleep(there)
        elif len(there) == 1 and not there[0].starved and self.access is Access.SEQ:
            await there[0].come()
        else:
            if self._busy:
                await self._has_come()
            await self.process.give_way()

    async def _sleep(self, there: list[Endpoint]) -> None:
        """Until the NIC has interrupted. It is asked to, and then looked again: what came before it knew is here."""
        process = self.process
        await process.syscall()
        for one in there:
            await one.arm()
        if not await self._has_come() and all(one.armed for one in there):
            await process.block(self._driver.event(process))
