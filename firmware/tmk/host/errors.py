"""Errors of TreadMarks."""

from __future__ import annotations

from pymodels.errors import SanlabError


class TmkError(SanlabError):
    """Invalid call, or invalid access to shared memory."""
