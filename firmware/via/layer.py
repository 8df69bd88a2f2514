"""Descriptor of the message layer VIA."""

from firmware.layer import Layer
from firmware.promises import Promise
from firmware.via.formats import NODES
from firmware.via.host import Via
from firmware.via.mail import open_mail
from firmware.via.nic import check_options, main
from firmware.via.options import Options
from firmware.via.shown import SHOWN

PROMISED = (
    Promise.ORDER | Promise.RESEQUENCING | Promise.DOUBLING | Promise.ZERO_COPY | Promise.PROTECTION | Promise.RESTART
)

LAYER = Layer(
    name="via",
    library=Via,
    firmware=main,
    options=Options,
    most_nodes=NODES,
    limits=check_options,
    tolerates_loss=True,
    mail=open_mail,
    promises={"": PROMISED},
    shown=SHOWN,
)
