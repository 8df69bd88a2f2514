"""Layer descriptor of echo, the template for new layers."""

from firmware.echo.host import Echo
from firmware.echo.mail import open_mail
from firmware.echo.nic import boot, main
from firmware.echo.shown import SHOWN
from firmware.layer import Boot, Layer
from firmware.promises import Promise

PROMISED = (
    Promise.ORDER | Promise.OVERTAKING | Promise.BACK_PRESSURE | Promise.ZERO_COPY | Promise.RESTART | Promise.REJOIN
)

LAYER = Layer(
    name="echo",
    library=Echo,
    firmware=main,
    mail=open_mail,
    promises={"": PROMISED},
    shown=SHOWN,
    boot=Boot(words=boot.words),
)
