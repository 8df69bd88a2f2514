"""Locks of the kernel agent."""

from __future__ import annotations

from firmware.common.host.lock import Lock
from firmware.verbs import Host


class KernelLock(Lock):
    """Lock of the kernel, whose holder is not preempted.

    No holder of the queue caches' lock may wait for the NIC, which may wait for a refill that needs this lock.
    """

    def __init__(self, host: Host) -> None:
        super().__init__(host, "the kernel's lock")
