"""Identity of a bitstream: as a board's registers report it, and as the manifest beside the bitstream describes it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from pymodels.board.map import HASH_WORDS, IDENTITY, MAP_VERSION, ControlRegister, Top, control
from pymodels.errors import SanlabError

FIRST = control(ControlRegister.IDENTITY)
WORDS = ControlRegister.TIMEOUT // 4 + 1
"""Address of the first identity register, and number of words from it that `Identity.read` needs."""

NETLIST = "netlist"
"""Name of the board in the manifest of a stand-in whose NICs and switch are netlists."""


class BoardIdentityError(SanlabError):
    """Board that is not a sanlab board, or whose bitstream differs from the expected one."""


@dataclass(frozen=True)
class Identity:
    """Properties of a bitstream that a host must know."""

    top: Top
    nodes: int
    nic: int  # kind of NIC, as its descriptor numbers it; 0 for none
    core: bool  # the NICs have processors
    sram_log2: int
    memory_log2: int
    ring_log2: int
    comparators: int
    hash: str  # hexadecimal, 32 digits
    bus_hz: int
    nic_hz: int
    link_hz: int
    baud: int
    timeout: int  # bus clocks

    @classmethod
    def read(cls, words: Sequence[int]) -> Identity:
        """Return the identity in the first `WORDS` registers of region CONTROL.

        Raises:
            BoardIdentityError: Not a sanlab board, or a board with another address map.
        """
        if words[0] != IDENTITY:
            raise BoardIdentityError(
                "board",
                f"its identity word is {words[0]:#010x}, not {IDENTITY:#010x}",
                "load the bitstream of `make board`, and check port and bit rate",
            )
        if words[1] != MAP_VERSION:
            raise BoardIdentityError(
                "board",
                f"its address map has version {words[1]}, this program has version {MAP_VERSION}",
                "load a bitstream of this commit, or use the commit of the bitstream",
            )
        kind, sizes = words[2], words[3]
        first = ControlRegister.HASH0 // 4
        return cls(
            Top(kind & 0xFF),
            kind >> 8 & 0xFF,
            kind >> 16 & 0xFF,
            bool(kind >> 24 & 1),
            sizes & 0xFF,
            sizes >> 8 & 0xFF,
            sizes >> 16 & 0xFF,
            sizes >> 24,
            "".join(f"{word:08x}" for word in words[first : first + HASH_WORDS]),
            *words[first + HASH_WORDS : WORDS],
        )

    def words(self) -> tuple[int, ...]:
        """Return the words that `read` decodes."""
        return (
            IDENTITY,
            MAP_VERSION,
            self.top | self.nodes << 8 | self.nic << 16 | int(self.core) << 24,
            self.sram_log2 | self.memory_log2 << 8 | self.ring_log2 << 16 | self.comparators << 24,
            *(int(self.hash[8 * i : 8 * i + 8], 16) for i in range(HASH_WORDS)),
            self.bus_hz,
            self.nic_hz,
            self.link_hz,
            self.baud,
            self.timeout,
        )


@dataclass(frozen=True)
class Manifest:
    """Content of `board.json` beside a bitstream or a stand-in board: what the bitstream holds."""

    name: str  # of the design: loopback, pair or card
    board: str  # name of the board, or `sim` or `NETLIST` for a stand-in
    profile: str  # hardware profile whose values are in the settings
    settings: dict[str, int]  # value of each run-time setting, by name of `pymodels.settings.Setting`
    periods: dict[str, int]  # of the clocks of the profile by name of `Clock`, ps; a board may run them more slowly
    commit: str  # of the tree that made it; ends with + if files differed from the commit
    identity: Identity

    def save(self, path: Path) -> None:
        """Write the manifest as JSON."""
        path.write_text(json.dumps(asdict(self), indent=2) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> Manifest:
        """Return the manifest of a file.

        Raises:
            BoardIdentityError: Missing or invalid file.
        """
        try:
            read = json.loads(path.read_text(encoding="utf-8"))
            identity = Identity(**{**read["identity"], "top": Top(read["identity"]["top"])})
            return cls(**{**read, "identity": identity})
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise BoardIdentityError(str(path), f"not a manifest: {error}", "run `make board` again") from error

    def check(self, board: Identity) -> None:
        """Compare the identity that a board reports with that of the manifest.

        Raises:
            BoardIdentityError: A property differs; the first one is named.
        """
        for name, expected in asdict(self.identity).items():
            found = getattr(board, name)
            if found != expected:
                raise BoardIdentityError(
                    "bitstream of the board",
                    f"its {name} is {found}, and that of the manifest is {expected}",
                    "load the bitstream beside the manifest, or run `make board` again",
                )
