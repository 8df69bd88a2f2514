"""The queues of one host's endpoints, and the parts that take messages out and put them in."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from firmware.grim.host.dispatch import Absent, Dispatch
from firmware.grim.host.errors import GrimError
from firmware.grim.host.handlers import Handlers
from firmware.grim.host.injection import Sending
from firmware.grim.host.out_queues import OutQueues
from firmware.grim.nic.layout import Layout
from firmware.grim.options import Options
from firmware.verbs import Buffer, Host


class Messenger:
    """Made by `grim_enable`, when the queues are allocated."""

    def __init__(
        self,
        host: Host,
        layout: Layout,
        options: Options,
        buffers: Sequence[Buffer],
        handlers: Handlers,
        absent: Absent,
        errors: deque[GrimError],
    ) -> None:
        self.queues = OutQueues(host, layout, options)
        self.dispatch = Dispatch(host, layout, options, buffers, self.queues, handlers, absent, errors)
        self.sending = Sending(host, options, self.queues, self.dispatch)
