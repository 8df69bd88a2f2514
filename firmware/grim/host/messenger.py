"""Messenger of one host or process: the queues of its endpoints, and the parts that receive and send messages."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from firmware.grim.host.dispatch import Absent, Dispatch
from firmware.grim.host.errors import GrimError
from firmware.grim.host.handlers import Handlers
from firmware.grim.host.injection import Sending
from firmware.grim.host.out_queues import OutQueues
from firmware.grim.nic.layout import Layout
from firmware.grim.options import Options
from firmware.verbs import Buffer, Host


class Messenger:
    """Queues, receiving half and sending half of one host or process, created by `grim_enable`."""

    def __init__(
        self,
        host: Host,
        layout: Layout,
        options: Options,
        buffers: Mapping[int, Buffer],
        handlers: Handlers,
        absent: Absent,
        errors: deque[GrimError],
    ) -> None:
        """Create the messenger; `buffers` are the incoming queues of its endpoints, by channel."""
        self.queues = OutQueues(host, layout, options)
        self.dispatch = Dispatch(host, layout, options, buffers, self.queues, handlers, absent, errors)
        self.sending = Sending(host, options, self.queues, self.dispatch)
        self.beside: list[Messenger] = []
        """Messengers of the host's processes."""

    def follow(self, tree: int, channels: int) -> None:
        """Set the channels of the host and its processes, as a bit mask, that are members of a tree."""
        for messenger in (self, *self.beside):
            messenger.dispatch.follow(tree, channels)
