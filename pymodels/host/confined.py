"""What a program of the real machine is kept from: the network, and living on after its end or the simulator's.

A program runs in namespaces of the kernel, for which a process that is not root needs a user namespace. In that of the
network there is nothing but a loopback that is down. In that of processes everything that the program has started, in
whatever session and with whatever parent, is killed by the kernel when the first process ends. Two processes
stand between simulator and program: the outer one, which the simulator started and which ends as the program ends, and
the first one of the namespace, which buries what the program leaves.

    simulator -> outer process -> first process -> program -> what it starts

Each is killed when the one before it ends. Where the kernel gives no namespaces (`refusal`), a program is killed with
the simulator, and what it has started with the group of its processes: the network stays open, and what has left the
group stays alive.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

PR_SET_PDEATHSIG = 1
ADDR_NO_RANDOMIZE = 0x0040000
"""Of the kernel's personalities: equal addresses in each run, on which the rounding of some libraries depends."""
PRESENT = 0xFFFFFFFF
"""Asks for the present personality."""
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
APART = CLONE_NEWPID | CLONE_NEWNET
FIRST_FILE = 3
"""Behind standard input, output and error."""
STATUS_BYTES = 4
_libc = ctypes.CDLL(None, use_errno=True)


@cache
def refusal() -> str:
    """Why the kernel gives no namespaces; nothing where it does. A process tries it, once."""
    if not (process := os.fork()):
        os._exit(_unshare())
    return os.strerror(error) if (error := os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])) else ""


def preparation() -> Callable[[], None]:
    """What a process does before it becomes the program."""
    kept_in = _die_with_parent if refusal() else _apart

    def prepare() -> None:
        """A kernel may refuse equal addresses; the program runs all the same."""
        kept_in()
        _libc.personality(_libc.personality(PRESENT) | ADDR_NO_RANDOMIZE)

    return prepare


def _die_with_parent() -> None:
    """The kernel kills this process when its parent ends, however that does."""
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _unshare() -> int:
    """Enter new namespaces; 0, or the error."""
    user, group = os.getuid(), os.getgid()
    if not _libc.unshare(APART):
        return 0
    if _libc.unshare(APART | CLONE_NEWUSER):
        return ctypes.get_errno()
    try:
        for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            Path(f"/proc/self/{name}").write_text(text, encoding="ascii")
    except OSError as error:
        return error.errno or 1
    return 0


def _apart() -> None:
    """Return in the program-to-be only, in namespaces and a session of its own."""
    _die_with_parent()
    if error := _unshare():
        raise OSError(error, os.strerror(error))
    into, out = os.pipe()
    if first := os.fork():
        _end_as_told(into, first)
    _die_with_parent()
    if program := os.fork():
        _bury(out, program)
    _die_with_parent()
    os.setsid()


def _end_as_told(into: int, first: int) -> None:
    """The outer process: end as the program has ended."""
    _keep(into)
    told = os.read(into, STATUS_BYTES)
    os.waitpid(first, 0)
    status = os.waitstatus_to_exitcode(int.from_bytes(told, "little") if told else signal.SIGKILL)
    if status < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if -status not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)


def _bury(out: int, program: int) -> None:
    """The first process: wait for all, and tell how the program ended. The kernel kills what is left."""
    _keep(out)
    ended = status = 0
    with suppress(InterruptedError):
        while ended != program:
            ended, status = os.wait()
    os.write(out, status.to_bytes(STATUS_BYTES, "little"))
    os._exit(0)


def _keep(one: int) -> None:
    """Close all files but the standard ones and this one: nobody must wait for their end by us."""
    os.closerange(FIRST_FILE, one)
    os.closerange(one + 1, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
