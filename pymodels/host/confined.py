"""Confinement of programs of the real machine: no network access, and no survival of the program or the simulator.

A program runs in namespaces of the kernel, for which a process that is not root needs a user namespace. Its network
namespace contains only a loopback that is down. In its process namespace, the kernel kills everything that the program
has started, in any session and with any parent, when the first process ends.

Two processes are between simulator and program. The outer process is started by the simulator and ends with the
program's status. The first process of the namespace reaps the program's children.

    simulator -> outer process -> first process -> program -> its children

Each process is killed when its predecessor ends. Where the kernel provides no namespaces (`refusal`), a program is
killed with the simulator, and its children with its process group. The network is then open, and children that have
left the group survive.
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
"""Personality with equal addresses in each run, since the rounding of some libraries depends on addresses."""
PRESENT = 0xFFFFFFFF
"""Argument that queries the present personality."""
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
APART = CLONE_NEWPID | CLONE_NEWNET
FIRST_FILE = 3
"""First descriptor after standard input, output and error."""
STATUS_BYTES = 4
_libc = ctypes.CDLL(None, use_errno=True)


@cache
def refusal() -> str:
    """Return the reason why the kernel provides no namespaces; empty if it does. Tested once, by a child process."""
    if not (process := os.fork()):
        os._exit(_unshare())
    return os.strerror(error) if (error := os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])) else ""


def preparation() -> Callable[[], None]:
    """Return the function that a process calls before it executes the program."""
    kept_in = _die_with_parent if refusal() else _apart

    def prepare() -> None:
        """Confine the process and request equal addresses, which a kernel may reject without consequence."""
        kept_in()
        _libc.personality(_libc.personality(PRESENT) | ADDR_NO_RANDOMIZE)

    return prepare


def _die_with_parent() -> None:
    """Make the kernel kill this process when its parent ends."""
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _unshare() -> int:
    """Enter new namespaces. Return 0 or the error number."""
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
    """Create the intermediate processes; return only in the program's process, in its own namespaces and session."""
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
    """Wait as the outer process, and end with the program's status."""
    _keep(into)
    received = os.read(into, STATUS_BYTES)
    os.waitpid(first, 0)
    status = os.waitstatus_to_exitcode(int.from_bytes(received, "little") if received else signal.SIGKILL)
    if status < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if -status not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)


def _bury(out: int, program: int) -> None:
    """Reap all children as the first process, and report the program's status. The kernel kills what is left."""
    _keep(out)
    ended = status = 0
    with suppress(InterruptedError):
        while ended != program:
            ended, status = os.wait()
    os.write(out, status.to_bytes(STATUS_BYTES, "little"))
    os._exit(0)


def _keep(one: int) -> None:
    """Close all files except the standard ones and this one, so that no other process waits for their end."""
    os.closerange(FIRST_FILE, one)
    os.closerange(one + 1, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
