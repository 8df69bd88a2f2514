"""The locks of the kernel agent."""

from __future__ import annotations

from firmware.host.lock import Lock
from firmware.verbs import Host


class KernelLock(Lock):
    """A lock of the kernel: who holds it goes on undisturbed. Nobody waits for the NIC while holding the one of the
    queue caches, as the NIC may wait for a refill, which needs it.
    """

    def __init__(self, host: Host) -> None:
        super().__init__(host, "the kernel's lock")
