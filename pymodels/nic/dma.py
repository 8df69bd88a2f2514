"""Model of the host DMA engine: chains of control blocks executed on memory images (fact sheet 3.6; paper 004, 2.2)."""

from __future__ import annotations

from dataclasses import dataclass

from pymodels.registers import Block, Flag, Size


def ones_sums(image: bytes, start: int) -> tuple[int, int]:
    """Return the two checksums of a block, over big-endian 16-bit words at SRAM addresses 0 mod 4 and 2 mod 4.

    Args:
        image: Bytes of the block; bytes outside of it count as zero.
        start: SRAM address of the first byte.
    """
    padded = bytes(start % 4) + image
    padded += bytes(-len(padded) % 4)
    totals = [0, 0]
    for at in range(0, len(padded), 2):
        totals[at // 2 % 2] += int.from_bytes(padded[at : at + 2], "big")
    return tuple((total - 1) % 0xFFFF + 1 if total else 0 for total in totals)  # type: ignore[return-value]


@dataclass(frozen=True)
class Done:
    """Executed block."""

    chain: int
    address: int
    bytes: int
    e2l: bool
    wake: bool


def write_block(sram: bytearray, address: int, following: int, flags: Flag, length: int, lar: int, eal: int) -> None:
    """Write a control block into an SRAM image."""
    words = (following | int(flags), 0, length, lar, 0, eal)
    sram[address : address + Block.SIZE] = b"".join(word.to_bytes(4, "big") for word in words)


class ChainModel:
    """All chains over one SRAM and one host memory.

    Args:
        sram: SRAM image, read and written.
        host: Image of host memory, read and written.
    """

    def __init__(self, sram: bytearray, host: bytearray) -> None:
        self.sram, self.host = sram, host
        self.current = [0] * Size.CHAINS
        """Address of each chain's current block."""
        self.running = [False] * Size.CHAINS

    def pulse(self, mask: int) -> None:
        """Start or continue the chains whose bits are set."""
        for chain in range(Size.CHAINS):
            if mask >> chain & 1:
                self.running[chain] = True

    def run(self) -> list[Done]:
        """Execute blocks until every chain has stopped, and return them in order."""
        done: list[Done] = []
        while any(self.running):
            chain = self.running.index(True)
            block = self._execute(chain)
            if block is None:
                self.running[chain] = False
            else:
                done.append(block)
        return done

    def _word(self, address: int) -> int:
        return int.from_bytes(self.sram[address : address + 4], "big")

    def _execute(self, chain: int) -> Done | None:
        at = self.current[chain]
        following = self._word(at + Block.NEXT)
        if following & Flag.TERMINAL:
            return None
        length, lar, eal = (self._word(at + field) for field in (Block.LEN, Block.LAR, Block.EAL))
        e2l = bool(following & Flag.E2L)
        if e2l:
            self.sram[lar : lar + length] = self.host[eal : eal + length]
        else:
            self.host[eal : eal + length] = self.sram[lar : lar + length]
        sums = ones_sums(bytes(self.sram[lar : lar + length]), lar)
        self.sram[at : at + 8] = b"".join(
            (
                (following | Flag.TERMINAL).to_bytes(4, "big"),
                sums[0].to_bytes(2, "big"),
                sums[1].to_bytes(2, "big"),
            )
        )
        self.current[chain] = following & ~7
        return Done(chain, at, length, e2l, bool(following & Flag.WAKE))
