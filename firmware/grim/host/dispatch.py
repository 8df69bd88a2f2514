"""Polling: messages from the endpoints' queues to their handlers, and waiting for them (paper 000, 4.4.2)."""

from __future__ import annotations

import types
from collections import deque
from collections.abc import Awaitable, Callable, Generator, Sequence
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
"""A message to this node itself: source, handler, arguments, payload."""


Absent = Callable[[int, int], Awaitable[None]]
"""Called with (source, number) for a message to a handler that is not here."""


class Dispatch:
    """The receiving half of one host's endpoints."""

    def __init__(
        self,
        host: Host,
        layout: Layout,
        options: Options,
        buffers: Sequence[Buffer],
        queues: OutQueues,
        handlers: Handlers,
        absent: Absent,
        errors: deque[GrimError],
    ) -> None:
        """`buffers`: the endpoints' queues; a poll drains what has overflowed of `queues`; `errors` go to the next
        call.
        """
        self._host, self._options, self._queues = host, options, queues
        self._handlers, self._absent, self._errors = handlers, absent, errors
        self._sealed = bool(options.crc32)
        self.incoming = [Incoming(host, layout, channel, buffer) for channel, buffer in enumerate(buffers)]
        self.polling = False
        """A handler runs, or may."""
        self.in_handler = False
        """The code that runs now is a handler's, or was called by it."""
        self.threaded = False
        """The polling thread polls: who waits sleeps until a handler has run."""
        self._local: deque[Local] = deque()
        self._early: deque[Local] = deque()
        """Messages for handlers that may be own ones whose numbers are not known yet: kept, in order, until they
        are."""
        self._idle = host.event("another task's poll")

    def to_self(self, message: Local) -> None:
        """A message to this node itself: it never leaves the host."""
        self._local.append(message)

    def follow(self, tree: int, channels: int) -> None:
        """From now on the channels of a mask are in a tree, and no others."""
        for channel, incoming in enumerate(self.incoming):
            incoming.follow(tree, bool(channels >> channel & 1))

    def pending(self) -> bool:
        """Whether a message waits to be handled."""
        for incoming in self.incoming:
            if incoming.pending():
                return True
        return bool(self._local) or (bool(self._early) and not self._handlers.unpublished())

    async def poll(self, channel: int | None = None) -> int:
        """Process the messages that are there, of all endpoints or of one; how many handlers ran. Inside a handler, or
        while another task polls: none.
        """
        if self.polling:
            return 0
        self.polling = True
        handled = 0
        try:
            if self._early and not self._handlers.unpublished():
                handled += await self._dispatch_early()
            endpoints = self.incoming if channel is None else [self.incoming[channel]]
            await self._look_at(len(endpoints))
            for incoming in endpoints:
                handled += await self._drain_incoming(incoming)
            while self._local:
                source, handler, arguments, payload = self._local.popleft()
                handled += await self._call(source, handler, arguments, memoryview(payload), 0)
            if self._queues.overflowed():
                await self._queues.drain()
        finally:
            self.polling = False
            self._idle.set()
        return handled

    async def _look_at(self, endpoints: int) -> None:
        """One look at each endpoint's queue; the one of the first is in the path of the call."""
        if endpoints > 1:
            await self._host.spend("poll_next", endpoints - 1)

    async def _drain_incoming(self, incoming: Incoming) -> int:
        """The messages up to the back pointer as it stands now."""
        handled = 0
        end = incoming.back()
        while incoming.position != end:
            try:
                message = await incoming.take()
                if message is not None:
                    source, kind, handler, arguments, payload, key = message
                    if kind == MessageType.ERROR_REPORT:
                        self._report(incoming, Report.of(arguments))
                    elif not self._sealed or kind in TREES or reference(source).device == Device.CELOXICA:
                        handled += await self._call(source, handler, arguments, payload, key)
                    else:
                        handled += await self._open(source, handler, arguments, payload, key)
            finally:
                await incoming.free()
        return handled

    async def _open(
        self, source: int, handler: int, arguments: tuple[int, int, int, int], payload: memoryview, key: int
    ) -> int:
        """A message that carries a CRC-32: one that was changed goes to no handler, and is an error of the next
        call.
        """
        found = await opened(self._host, reference(source).vnn, handler, arguments, payload)
        if isinstance(found, GrimError):
            self._errors.append(found)
            return 0
        return await self._call(source, handler, arguments, found, key)

    def _report(self, incoming: Incoming, report: Report) -> None:
        """The NI reports a message that cannot succeed, or another NI that has restarted."""
        if report.restarted:
            incoming.forget(report.vnn)
        else:
            self._errors.append(report_error(report))

    async def _call(
        self, source: int, handler: int, arguments: tuple[int, int, int, int], payload: memoryview, key: int
    ) -> int:
        host = self._host
        await host.spend("dispatch")
        function = self._handlers.functions.get(handler)
        if handler >= FIRST_NUMBER and (self._early or (function is None and self._handlers.unpublished())):
            await host.spend("copy_line", len(payload) + 31 >> 5 or 1)
            self._early.append((source, handler, arguments, bytes(payload)))
            return 0
        if function is None:
            await self._absent(source, handler)
            return 0
        vnn = reference(source).vnn
        host.trace(TraceEvent.HANDLER_START, key, handler, vnn)
        result = function(source, *arguments, payload)
        if result is not None:
            await self._steps_of(result.__await__())
        host.trace(TraceEvent.HANDLER_END, key, handler, vnn)
        return 1

    @types.coroutine
    def _steps_of(self, handler: Generator[Any, Any, Any]) -> Generator[Any, Any, None]:
        """A handler that suspends: `in_handler` is set while its own code runs, not while other tasks run."""
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
        """The poll at the start of a call (paper 000, 4.4.2)."""
        if self._options.poll_first and not self.polling and not await self.poll():
            await self._host.spend("poll_empty")

    async def _dispatch_early(self) -> int:
        """The numbers are known: the messages that came too early, in their order."""
        messages, self._early = self._early, deque()
        handled = 0
        for source, handler, arguments, payload in messages:
            handled += await self._call(source, handler, arguments, memoryview(payload), 0)
        return handled

    async def wait_for(self, condition: Callable[[], bool], words: Sequence[int] = ()) -> None:
        """Spin, polling, until the condition holds: `while (!condition) grim_poll();`. `words`: physical addresses of
        words that the condition looks at.
        """
        while not condition():
            if self._errors:
                raise self._errors.popleft()
            if self.threaded:
                await self._sleep(condition, words)
            elif self.polling:
                await self._idle.wait()
            elif self.pending():
                await self.poll()
            elif self._queues.overflowed():
                await self._host.spend("pause", self._options.pause_turns)
                await self.poll()
            else:
                watches = [(incoming.back_address, incoming.position) for incoming in self.incoming]
                if words:
                    watches += [(word, self._host.load_words(word, 1)[0]) for word in words]
                await self._host.poll(watches, "poll_spin")

    def wake_sleepers(self) -> None:
        """The polling thread ends: tasks that sleep until its next poll now poll by themselves."""
        self.threaded = False
        self._idle.set()

    async def _sleep(self, condition: Callable[[], bool], words: Sequence[int]) -> None:
        """With the polling thread: sleep until it has polled, or spin on words that the NI writes."""
        if words:
            await self._host.poll([(word, self._host.load_words(word, 1)[0]) for word in words], "poll_spin")
            return
        await self._idle.wait()
        if self.threaded and condition():
            await self._host.switch_context()
