"""Errors of agents on a link."""

from __future__ import annotations

from pymodels.errors import SanlabError


class LinkError(SanlabError):
    """Violation of the link's rules by a design, or invalid use of an agent."""
