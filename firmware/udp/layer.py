"""Layer descriptor of UDP."""

from firmware.layer import Layer
from firmware.udp.host import Udp
from firmware.udp.nic import check_options, main
from firmware.udp.options import Options
from firmware.udp.shown import SHOWN

LAYER = Layer(
    name="udp",
    library=Udp,
    firmware=main,
    options=Options,
    limits=check_options,
    tolerates_loss=True,
    shown=SHOWN,
)
