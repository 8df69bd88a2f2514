"""What TreadMarks refuses."""

from __future__ import annotations

from pymodels.errors import SanlabError


class TmkError(SanlabError):
    """A call, or an access to shared memory, that cannot be done."""
