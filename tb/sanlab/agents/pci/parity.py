"""Parity check of the data that an agent receives, and its PERR#."""

from __future__ import annotations

from .pins import BusSample, Pins, parity


class ParityCheck:
    """Check of PAR a clock after each data phase; PERR# is asserted in the clock after that.

    Attributes:
        response: True to assert PERR#; the errors are counted in any case.
        errors: Number of data phases with wrong parity.
    """

    def __init__(self, pins: Pins) -> None:
        self.response = True
        self.errors = 0
        self._pins = pins
        self._expected: tuple[int, int | None] | None = None

    def expect(self, sample: BusSample, wide: bool) -> None:
        """Note the data phase that ends at this clock edge."""
        high = parity(sample.ad >> 32, sample.cbe >> 4) if wide else None
        self._expected = parity(sample.ad, sample.cbe), high

    def clear(self) -> None:
        """Forget the last data phase, on a reset."""
        self._expected = None

    def step(self, sample: BusSample) -> bool:
        """Compare PAR and PAR64 at this clock edge and return True if they are wrong."""
        self._pins.finish("perr")
        if self._expected is None:
            return False
        low, high = self._expected
        self._expected = None
        wrong = sample.par != low or high not in {None, sample.par64}
        if wrong:
            self.errors += 1
            if self.response:
                self._pins.activate("perr")
        return wrong
