"""Board behind a port, and the description of its bitstream: compared before anything else is sent."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pymodels.board.identity import BoardIdentityError, Identity, Manifest
from pymodels.board.map import Clock
from pymodels.errors import EXIT_CONFIGURATION
from pymodels.hardware.discover import kinds_on_boards
from tb.board.bridge import Bridge
from tb.board.link import identify, periods_of
from tb.board.transport import open_port
from tb.tools.paths import OUT

FILE = "board.json"
FOLDERS = OUT / "board"
"""Folder in which `make board` leaves a folder for each board."""
SPEED = 1_000_000
"""Bits per second of the serial line of all boards."""


class WrongBoardError(BoardIdentityError):
    """Board with another bitstream than this run needs."""

    exit_code = EXIT_CONFIGURATION


@contextmanager
def connected(port: str, patience_s: float) -> Iterator[tuple[Bridge, Identity]]:
    """Yield the bridge behind a port and the identity of its board; the port is closed at the end.

    Raises:
        PortError: The port cannot be opened.
        LineError: No board answers, or the line is damaged.
        WrongBoardError: The board has another address map.
    """
    opened = open_port(port, SPEED)
    try:
        bridge = Bridge(opened, patience_s)
        bridge.connect()
        try:
            identity = identify(bridge)
        except BoardIdentityError as error:
            raise WrongBoardError(f"board at {opened.name}", error.cause, error.remedy) from None
        yield bridge, identity
    finally:
        opened.close()


def manifest_of(identity: Identity, folder: str) -> Manifest:
    """Return the description of a board's bitstream.

    Args:
        identity: What the board reports.
        folder: Folder of the bitstream that the board must hold, or empty to find it by the board's hash.

    Raises:
        WrongBoardError: The board holds another bitstream; the message names both.
        BoardIdentityError: The folder has no valid description.
    """
    if folder:
        made = Manifest.load(Path(folder) / FILE)
        if made.identity.hash != identity.hash:
            raise _wrong(identity, [made], f"load the bitstream in {folder}, or correct run.board")
        made.check(identity)
        return made
    known = [Manifest.load(file) for file in sorted(FOLDERS.glob(f"*/{FILE}"))]
    for made in known:
        if made.identity.hash == identity.hash:
            made.check(identity)
            return made
    raise _wrong(identity, known, "load one of these, run `make board` again, or name its folder with run.board=...")


def _wrong(identity: Identity, known: list[Manifest], remedy: str) -> WrongBoardError:
    names = ", ".join(
        f"{one.name} for {one.board} of commit {one.commit[:8]} ({one.identity.hash[:8]})" for one in known
    )
    expected = f"expected is {names}" if known else f"no bitstream is described in {FOLDERS}"
    return WrongBoardError("bitstream of the board", f"the board holds {identity.hash[:8]}, and {expected}", remedy)


def reported(identity: Identity, made: Manifest) -> dict[str, str]:
    """Return what a board reports, as `Request.board`: texts of its description and of profile values."""
    periods = periods_of(identity)
    nic, link = periods[Clock.NIC], periods[Clock.LINK]
    return {
        "name": f"{made.name} for {made.board}",
        "board": made.board,
        "hash": identity.hash,
        "commit": made.commit,
        "profile": made.profile.partition("+")[0],
        "kind": kinds_on_boards().get(identity.nic, f"kind {identity.nic}"),
        "nodes": str(identity.nodes),
        "clock.nic_ps": str(nic),
        "clock.pci_ps": str(nic),
        "clock.link_ps": str(link),
        "sram.bytes": str(1 << identity.sram_log2),
        "sram.queue_bytes": str(1 << identity.sram_log2 - 1),
        "memory.bytes": str(1 << identity.memory_log2),
    }
