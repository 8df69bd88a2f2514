"""Bundle: endpoints that are polled together."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum

from firmware.am2.host.driver import Driver
from firmware.am2.host.endpoint import Endpoint
from firmware.am2.host.errors import Am2Error
from pymodels.host.process import Process


class Mask(IntEnum):
    """Event for which the waits of a bundle sleep (AM 2.0)."""

    NONE = 0
    """No event: waits spin."""
    NOT_EMPTY = 1
    """Arrival of a message."""


class Access(IntEnum):
    """Threads of the process that may use a bundle (AM 2.0)."""

    SEQ = 0
    """AM_SEQ: one thread at a time, as the program guarantees."""
    PAR = 1
    """AM_PAR: any thread at any time."""


class Bundle:
    """Bundle of endpoints. While one thread polls, polls of other threads return without handling messages."""

    def __init__(self, driver: Driver, process: Process, access: Access) -> None:
        self.process, self.access = process, access
        self.endpoints: list[Endpoint] = []
        self.event_mask = Mask.NONE
        """Event mask (AM_GetEventMask)."""
        self._driver = driver
        self._polling = False

    def set_event_mask(self, mask: Mask) -> None:
        """Select spinning (NONE) or sleeping (NOT_EMPTY) waits (AM_SetEventMask). Raises Am2Error."""
        if mask not in tuple(Mask):
            raise Am2Error(f"{self.process.who}: an event mask", f"{mask!r}", "give NONE or NOT_EMPTY")
        self.event_mask = Mask(mask)

    async def free(self) -> None:
        """Free all endpoints of the bundle (AM_FreeBundle). The bundle remains usable."""
        for endpoint in self.endpoints:
            if endpoint.is_open:
                await endpoint.free()
        self.endpoints.clear()

    async def allocate_endpoint(self, weight: int = 1) -> Endpoint:
        """Create an endpoint, which accepts no message until it has a tag (AM_AllocateEndpoint).

        Args:
            weight: Number of messages that the endpoint may send in a turn of the NIC.

        Raises:
            Am2Error: The weight is invalid, or the host has no endpoint left.
        """
        endpoint = Endpoint(self._driver, self, await self._driver.allocate(self.process, weight))
        self.endpoints.append(endpoint)
        return endpoint

    def move_endpoint(self, endpoint: Endpoint, bundle: Bundle) -> None:
        """Move an endpoint to another bundle of the same process (AM_MoveEndpoint). Raises Am2Error."""
        if endpoint not in self.endpoints or bundle.process is not self.process:
            raise Am2Error(
                "moving an endpoint",
                "not in this bundle, or the target belongs to another process",
                "move it within its process",
            )
        self.endpoints.remove(endpoint)
        bundle.endpoints.append(endpoint)
        endpoint.moved(bundle)

    async def poll(self) -> int:
        """Check each endpoint once, handle all messages, and return their number (AM_Poll).

        Returns 0 within a handler, and while another thread polls.
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
        """True while a thread polls or handles a message."""
        return self._polling or any(endpoint.handling for endpoint in self.endpoints)

    async def until(self, condition: Callable[[], bool], what: str = "a condition", holder: str = "") -> None:
        """Poll until a condition is true.

        Args:
            condition: Condition.
            what: Description of the wait in hang reports.
            holder: Holder of the awaited resource in hang reports.
        """
        if condition():
            return
        waits, who = self._driver.host.waits, self.process.who
        waits.want(who, what, holder)
        while not condition():
            if not await self.poll() and not condition():
                await self._wait_for_message()
        waits.got(who, what)

    async def wait(self) -> None:
        """Wait until a message has arrived, without handling it (AM_WaitSema). Raises Am2Error."""
        if not any(one.is_open for one in self.endpoints):
            raise Am2Error(f"{self.process.who}: waiting", "the bundle has no endpoint", "allocate an endpoint first")
        while not await self._has_message():
            await self._wait_for_message()

    async def _has_message(self) -> bool:
        """Check each endpoint once. Return True if a message has arrived."""
        return any([await one.has_message() for one in self.endpoints if one.is_open])

    async def _wait_for_message(self) -> None:
        """Wait until a message may have arrived.

        The word of a single endpoint is polled. Other cases are checked in turns, and other threads run in between:
        several endpoints, an endpoint whose bulk data wait for room, or an endpoint of several threads.
        """
        there = [one for one in self.endpoints if one.is_open]
        if self.event_mask is Mask.NOT_EMPTY and there and not any(one.starved for one in there):
            await self._sleep(there)
        elif len(there) == 1 and not there[0].starved and self.access is Access.SEQ:
            await there[0].spin_for_message()
        else:
            if self._busy:
                await self._has_message()
            await self.process.give_way()

    async def _sleep(self, there: list[Endpoint]) -> None:
        """Block until the NIC interrupts. After the request for an interrupt, check for messages that came before."""
        process = self.process
        await process.syscall()
        for one in there:
            await one.arm()
        if not await self._has_message() and all(one.armed for one in there):
            await process.block(self._driver.event(process))
