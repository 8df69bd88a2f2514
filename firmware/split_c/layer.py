"""Layer descriptor of Split-C."""

from firmware.layer import Layer
from firmware.split_c.host import SplitC, check_options
from firmware.split_c.options import Options

LAYER = Layer(
    name="split_c",
    library=SplitC,
    options=Options,
    stands_on=("am",),
    limits=check_options,
)
