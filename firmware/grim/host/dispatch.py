"""Polling: dispatch of messages from the endpoint queues to their handlers, and waiting for messages (paper 000,
4.4.2).
"""

from __future__ import annotations

import types
from collections import deque
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from typing import Any

from firmware.grim.formats import TREES, Device, MessageType, Report, reference
from firmware.grim.host.crc import opened
from firmware.grim.host.errors import GrimError
from firmware.grim.host.handlers import FIRST_NUMBER, Handlers
from firmware.grim.host.incoming import Incoming
from firmware.grim.host.out_queues import OutQueues
from firmware.grim.host.undelivered import report_error
from firmware.grim.nic.layout import Layout
from firmware.grim.options import Options
from firmware.verbs import Buffer, Host
from pymodels.trace import TraceEvent

Local = tuple[int, int, tuple[int, int, int, int], bytes]
"""Message to this node itself: source, handler, arguments, payload."""
Early = tuple[int, int, tuple[int, int, int, int], bytes, int]
"""Message before its handler is known: source, handler, arguments, payload, number in the trace."""


Absent = Callable[[int, int], Awaitable[None]]
"""Function called with (source, number) for a message to an unknown handler."""


class Dispatch:
    """Receiving half of one host's endpoints."""

    def __init__(
        self,
        host: Host,
        layout: Layout,
        options: Options,
        buffers: Mapping[int, Buffer],
        queues: OutQueues,
        handlers: Handlers,
        absent: Absent,
        errors: deque[GrimError],
    ) -> None:
        """Create the dispatcher.

        Args:
            host: Host that polls.
            layout: Sizes of the endpoint queues.
            options: GRIM's options.
            buffers: Queues of the endpoints to poll, by channel.
            queues: Outgoing queues, whose overflow a poll drains.
            handlers: Handler databases.
            absent: Function to call for an unknown handler.
            errors: Errors to raise from the next call.
        """
        self._host, self._options, self._queues = host, options, queues
        self._handlers, self._absent, self._errors = handlers, absent, errors
        self._sealed = bool(options.crc32)
        self.by_channel = {channel: Incoming(host, layout, channel, buffer) for channel, buffer in buffers.items()}
        self.incoming = list(self.by_channel.values())
        self.polling = False
        """True while a poll is in progress, in which a handler may run."""
        self.in_handler = False
        """True while the running code is a handler or was called by one."""
        self.threaded = False
        """True while the polling thread polls, so that waiting tasks sleep until a handler has run."""
        self._local: deque[Local] = deque()
        self._early: deque[Early] = deque()
        """Messages for handlers whose numbers may be this host's but are not known yet, kept in order until they are.
        """
        self._idle = host.event("another task's poll")

    def to_self(self, message: Local) -> None:
        """Queue a message to this node itself, which never leaves the host."""
        self._local.append(message)

    def follow(self, tree: int, channels: int) -> None:
        """Set the channels, as a bit mask, that are members of a tree."""
        for channel, incoming in self.by_channel.items():
            incoming.follow(tree, bool(channels >> channel & 1))

    def pending(self) -> bool:
        """Return True if a message waits to be handled."""
        for incoming in self.incoming:
            if incoming.pending():
                return True
        return bool(self._local) or (bool(self._early) and not self._handlers.unpublished())

    async def poll(self, channel: int | None = None) -> int:
        """Process the received messages of all endpoints, or of one channel.

        Does nothing inside a handler or while another task polls.

        Returns:
            The number of handlers that ran.
        """
        if self.polling:
            return 0
        self.polling = True
        handled = 0
        try:
            if self._early and not self._handlers.unpublished():
                handled += await self._dispatch_early()
            endpoints = self.incoming if channel is None else [self.by_channel[channel]]
            await self._look_at(len(endpoints))
            for incoming in endpoints:
                handled += await self._drain_incoming(incoming)
            while self._local:
                source, handler, arguments, payload = self._local.popleft()
                handled += await self._call(source, handler, arguments, memoryview(payload), 0, 0)
            if self._queues.overflowed():
                await self._queues.drain()
        finally:
            self.polling = False
            self._idle.set()
        return handled

    async def _look_at(self, endpoints: int) -> None:
        """Charge one check of each endpoint's queue; the path of the call includes the first."""
        if endpoints > 1:
            await self._host.spend("poll_next", endpoints - 1)

    async def _drain_incoming(self, incoming: Incoming) -> int:
        """Process the messages up to the current back pointer; return the number of handlers that ran."""
        handled = 0
        end = incoming.back()
        while incoming.position != end:
            try:
                message = await incoming.take()
                if message is not None:
                    source, kind, handler, arguments, payload, key = message
                    if kind == MessageType.ERROR_REPORT:
                        self._report(incoming, Report.decode(arguments))
                    elif not self._sealed or kind in TREES or reference(source).device == Device.CELOXICA:
                        handled += await self._call(source, handler, arguments, payload, key, incoming.message)
                    else:
                        handled += await self._open(source, handler, arguments, payload, key, incoming.message)
            finally:
                await incoming.free()
        return handled

    async def _open(
        self,
        source: int,
        handler: int,
        arguments: tuple[int, int, int, int],
        payload: memoryview,
        key: int,
        message: int,
    ) -> int:
        """Check the CRC-32 of a message and call its handler; a damaged message becomes an error of the next call."""
        found = await opened(self._host, reference(source).vnn, handler, arguments, payload)
        if isinstance(found, GrimError):
            self._errors.append(found)
            return 0
        return await self._call(source, handler, arguments, found, key, message)

    def _report(self, incoming: Incoming, report: Report) -> None:
        """Process a NI's report of a failed message, or of another NI's restart."""
        if report.restarted:
            incoming.forget(report.vnn)
        else:
            self._errors.append(report_error(report))

    async def _call(
        self,
        source: int,
        handler: int,
        arguments: tuple[int, int, int, int],
        payload: memoryview,
        key: int,
        message: int,
    ) -> int:
        host = self._host
        await host.spend("dispatch")
        function = self._handlers.functions.get(handler)
        if handler >= FIRST_NUMBER and (self._early or (function is None and self._handlers.unpublished())):
            await host.spend("copy_line", len(payload) + 31 >> 5 or 1)
            self._early.append((source, handler, arguments, bytes(payload), message))
            return 0
        if function is None:
            await self._absent(source, handler)
            return 0
        vnn = reference(source).vnn
        host.trace(TraceEvent.HANDLER_START, key, handler, vnn, message=message)
        result = function(source, *arguments, payload)
        if result is not None:
            await self._steps_of(result.__await__())
        host.trace(TraceEvent.HANDLER_END, key, handler, vnn, message=message)
        return 1

    @types.coroutine
    def _steps_of(self, handler: Generator[Any, Any, Any]) -> Generator[Any, Any, None]:
        """Run an asynchronous handler, with `in_handler` set only while its own code runs."""
        resume, value = handler.send, None
        while True:
            self.in_handler = True
            try:
                wanted = resume(value)
            except StopIteration:
                return
            finally:
                self.in_handler = False
            try:
                resume, value = handler.send, (yield wanted)
            except BaseException as error:  # noqa: BLE001 - whatever it is, it is the handler's
                resume, value = handler.throw, error

    async def poll_first(self) -> None:
        """Poll at the start of an API call (paper 000, 4.4.2)."""
        if self._options.poll_first and not self.polling and not await self.poll():
            await self._host.spend("poll_empty")

    async def _dispatch_early(self) -> int:
        """Dispatch, in order, the messages that arrived before their handler numbers were known."""
        messages, self._early = self._early, deque()
        handled = 0
        for source, handler, arguments, payload, message in messages:
            handled += await self._call(source, handler, arguments, memoryview(payload), 0, message)
        return handled

    async def wait_for(self, condition: Callable[[], bool], words: Sequence[int] = ()) -> None:
        """Poll until a condition holds: `while (!condition) grim_poll();`.

        Args:
            condition: Function that returns True to end the wait.
            words: Physical addresses of the words that the condition depends on, if any.
        """
        while True:
            # Known values come first, since the NI may write after the condition is evaluated.
            known = [(word, self._host.load_words(word, 1)[0]) for word in words] if words else []
            if condition():
                return
            if self._errors:
                raise self._errors.popleft()
            if self.threaded:
                await self._sleep(condition, known)
            elif self.polling:
                await self._idle.wait()
            elif self.pending():
                await self.poll()
            elif self._queues.overflowed():
                await self._host.spend("pause", self._options.pause_turns)
                await self.poll()
            else:
                watches = [(incoming.back_address, incoming.position) for incoming in self.incoming]
                await self._host.poll(watches + known, "poll_spin")

    def wake_sleepers(self) -> None:
        """Let sleeping tasks poll by themselves, because the polling thread ends."""
        self.threaded = False
        self._idle.set()

    async def _sleep(self, condition: Callable[[], bool], known: Sequence[tuple[int, int]]) -> None:
        """Sleep until the polling thread has polled, or spin on words that the NI writes, given their known values."""
        if known:
            await self._host.poll(known, "poll_spin")
            return
        await self._idle.wait()
        if self.threaded and condition():
            await self._host.switch_context()
