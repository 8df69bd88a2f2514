"""Layer descriptor of TreadMarks."""

from firmware.layer import Layer
from firmware.tmk.host import TreadMarks
from firmware.tmk.options import Options
from firmware.tmk.shown import SHOWN

LAYER = Layer(
    name="tmk",
    library=TreadMarks,
    options=Options,
    stands_on=("udp", "via"),
    shown=SHOWN,
)
