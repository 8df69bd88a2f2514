"""Layer descriptor of the FIFO card's driver."""

from firmware.fifo.host import check_options, open_layer
from firmware.fifo.options import Options
from firmware.fifo.shown import SHOWN
from firmware.layer import Layer
from pymodels.nics.fifo.kind import KIND

LAYER = Layer(
    name="fifo",
    library=open_layer,
    options=Options,
    drives=KIND,
    limits=check_options,
    shown=SHOWN,
)
