"""Configuration port of a host's FPGA card: images of the circuit file, or other files, into the device or a slot.

The image is in pinned host memory. The card fetches it by DMA, or the CPU writes it word by word. The card checks it
(`hdl/card/myri_card_config.sv`) and reports the outcome.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from firmware.common.host.lock import Lock
from firmware.grim.host.arguments import text, whole
from firmware.grim.host.errors import GrimError
from firmware.grim.nic.cards import CARD
from firmware.verbs import Buffer, Host
from firmware.view import ClusterView
from pymodels.card.fabric import images
from pymodels.card.image import HEADER, build
from pymodels.card.registers import CONFIG, CONFIG_LOADING, SLOTS, CardReg, Configure, Load
from pymodels.errors import nearest

DMA, PIO = "dma", "pio"
METHODS = (DMA, PIO)
"""Ways of an image into the card."""
MOST = 4 << 20
"""Largest file of an image in bytes: the part of the card's window that belongs to the port."""
PIECE = 4096
"""Bytes written by PIO before another task may use the CPU."""
DMA_MOST = 0xFFF8
"""Largest transfer of the card's DMA, in whole words of 8 bytes."""
LOOK_PS = 10_000_000
"""Interval in ps of polls of the card during a load (ours): 10 us, more than the slowest byte, 256 PCI clocks."""
PATIENCE = 200_000
"""Number of polls, plus one a byte, after which a load times out: 2 s for the message that precedes it."""
CAUSES = {
    Load.NO_IMAGE: ("does not begin as an image does", "give a file of pymodels.card.image"),
    Load.DAMAGED_HEADER: ("has a damaged header", "write the file again"),
    Load.OTHER_CARD: ("is for another FPGA or another version of the format", "give an image for this card"),
    Load.OTHER_CIRCUITS: ("is for cards with another circuit file", "make it from this cluster's circuit file"),
    Load.NO_PLACE: ("has a number, slot or length that is invalid", "make it from this cluster's circuit file"),
    Load.NO_SHELL: ("is for one slot of a card that is empty", "load an image of the whole device first"),
    Load.TRUNCATED: ("is truncated", "give the whole file"),
    Load.DAMAGED: ("is damaged", "write the file again"),
}
"""Cause and remedy of each failure."""


class LoadError(GrimError):
    """Image that the card has rejected. `outcome` is the card's word for it, `taken` the bytes up to there."""

    def __init__(self, image: str, outcome: Load, taken: int, empty: Sequence[int]) -> None:
        cause, remedy = CAUSES[outcome]
        kept = outcome < Load.TRUNCATED or taken < HEADER.size
        which = "slots that are" if len(empty) > 1 else "slot that is"
        after = "the circuits stay as they were" if kept else f"{which} empty now: {', '.join(map(str, empty))}"
        super().__init__("image", f"{image} {cause} (after {taken} bytes); {after}", remedy)
        self.outcome, self.taken = outcome, taken


class CardImages:
    """Images of one card, and its configuration port."""

    def __init__(
        self,
        host: Host,
        view: ClusterView,
        write: Callable[[int, int], Awaitable[None]],
        read: Callable[[int], Awaitable[int]],
    ) -> None:
        """Bind the port; `write` and `read` access registers of the card."""
        self._host, self._write, self._read = host, write, read
        self._circuits, self._settings = view.circuits, view.fpga
        self._turn = Lock(host, "the configuration port of the FPGA card")
        self.dma_turn = Lock(host, "the card's DMA registers")
        """Held while an image is loaded by DMA."""
        self._buffer: Buffer | None = None
        """Pinned memory for the file, which grows with the largest one."""
        self.names = images(view.circuits)
        """Image files of the circuit file; the number of an image is its index plus 1."""

    async def load(self, image: str | bytes | Path, slot: int | None = None, method: str = DMA) -> None:
        """Load an image, and wait until the card has taken or rejected it.

        Args:
            image: Name of an image of the circuit file, of which the driver makes the file; or a file, by its path or
                as its bytes.
            slot: Slot of a partial image, with a name; None for the whole device, and for a file, which says it.
            method: `dma` or `pio`.

        Raises:
            GrimError: An argument is invalid, or the file cannot be read.
            LoadError: The card has rejected the image.
        """
        if text("method", method) not in METHODS:
            raise GrimError("method", f"{method!r} is not a way into the card", nearest(method, METHODS))
        what, data = self._file(image, slot)
        async with self._turn:
            await self._write(CardReg.CONFIG, Configure.START)
            await (self._fetch(data, what) if method == DMA else self._store(data, what))
            await self._write(CardReg.CONFIG, Configure.END)
            outcome = Load(await self._until(CardReg.CONFIG, CONFIG_LOADING, what, len(data)) & 0xF)
            if outcome == Load.DONE:
                return
            taken = await self._read(CardReg.CONFIG_BYTES)
            empty = [number for number, name in enumerate(await self._slots()) if name is None]
        raise LoadError(what, outcome, taken, empty)

    async def clear(self) -> None:
        """Empty all slots and the shell, which then takes no messages until an image of the whole device is loaded."""
        async with self._turn:
            await self._write(CardReg.CONFIG, Configure.CLEAR)
            await self._until(CardReg.CONFIG, CONFIG_LOADING, "the card to be emptied", 0)

    async def slots(self) -> tuple[str | None, ...]:
        """Return the image from which each slot is loaded, None for an empty slot."""
        async with self._turn:
            return await self._slots()

    async def _slots(self) -> tuple[str | None, ...]:
        numbers = (await self._read(CardReg.IMAGE)).to_bytes(SLOTS, "little")
        return tuple(self.names[number - 1] if number else None for number in numbers)

    def _file(self, image: str | bytes | Path, slot: int | None) -> tuple[str, bytes]:
        """Return a description of a file for messages, and its bytes, filled up to whole words."""
        if isinstance(image, (bytes, Path)):
            if slot is not None:
                raise GrimError("slot", f"{slot} was given with a file", "give it with a name of the circuit file")
            what, data = ("the file", image) if isinstance(image, bytes) else (str(image), _contents(image))
            if not 0 < len(data) <= MOST:
                raise GrimError("image", f"{what} has {len(data)} bytes", f"give 1 to {MOST}")
            return what, data + bytes(-len(data) % 4)
        if text("image", image) not in self.names:
            raise GrimError("image", f"{image!r} is not in the circuit file", nearest(image, self.names))
        if slot is None:
            return repr(image), build(self._circuits, image, None, self._settings["image_bytes"]).pack()
        used = sorted(one.slot for one in self._circuits if one.image == image)
        if whole("slot", slot) not in used:
            cause = f"{image!r} has no circuit for slot {slot}"
            raise GrimError("slot", cause, f"its slots are {', '.join(map(str, used))}")
        return f"{image!r} for slot {slot}", build(self._circuits, image, slot, self._settings["slot_bytes"]).pack()

    async def _fetch(self, data: bytes, what: str) -> None:
        """Have the card fetch a file from host memory."""
        if self._buffer is None or self._buffer.size < len(data):
            self._buffer = self._host.allocate(len(data))
        source = self._buffer.address
        self._host.store_bytes(source, data)
        async with self.dma_turn:
            for at in range(0, len(data), DMA_MOST):
                size = min(len(data) - at, DMA_MOST)
                for register, value in (
                    (CardReg.DMA_SOURCE, source + at),
                    (CardReg.DMA_TARGET, CONFIG),
                    (CardReg.DMA_BYTES, size),
                ):
                    await self._write(register, value)
                await self._until(CardReg.DMA_BYTES, 0xFFFF, what, size)

    async def _store(self, data: bytes, what: str) -> None:
        """Write a file word by word.

        The port takes the first word of the frames when the slots are empty. The CPU waits for that by polls: a write
        would stall it, and the message that the slots still process may need it.
        """
        first = HEADER.size + 4
        await self._host.pio_write(CARD + CONFIG, data[:first])
        if len(data) <= first:
            return
        for _ in range(PATIENCE):
            if await self._read(CardReg.CONFIG_BYTES) >= first:
                break
            if not await self._read(CardReg.CONFIG) & CONFIG_LOADING:  # the header is invalid
                break
            await self._host.sleep(LOOK_PS, f"{what} to empty its slots")
        for at in range(first, len(data), PIECE):
            await self._host.pio_write(CARD + CONFIG + at, data[at : at + PIECE])

    async def _until(self, register: CardReg, mask: int, what: str, size: int) -> int:
        """Poll a register until the bits of a mask are 0, and return it."""
        for _ in range(PATIENCE + size):
            value = await self._read(register)
            if not value & mask:
                return value
            await self._host.sleep(LOOK_PS, f"{what} to be loaded")
        raise GrimError("card", f"timed out waiting for {what}", "check that no circuit works without end")


def _contents(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise GrimError("image", f"{path} cannot be read: {error.strerror}", "give the path of an image") from None
