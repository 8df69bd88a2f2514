"""Stack frame of the firmware function that charges a path."""

from __future__ import annotations

import sys
from types import FrameType

from pymodels.machine.processor import ModelProcessor


def charging() -> FrameType:
    """Return the frame that calls a replacement of `work`, or of `work_on`, which calls `work`."""
    frame = sys._getframe(2)
    if frame.f_code is ModelProcessor.work_on.__code__ and frame.f_back:
        return frame.f_back
    return frame
