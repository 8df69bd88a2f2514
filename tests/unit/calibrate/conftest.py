"""Fewer points for functions that are known exactly."""

from __future__ import annotations

import pytest

from tb.calibrate import emulate, match


@pytest.fixture(autouse=True)
def few_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use fewer particles, candidates and folds."""
    monkeypatch.setattr(match, "PARTICLES", match.PARTICLES // 2)
    monkeypatch.setattr(match, "CANDIDATES", match.CANDIDATES // 4)
    monkeypatch.setattr(emulate, "FOLDS", 3)
