"""The descriptor of echo, the template."""

from firmware.echo.host import Echo
from firmware.echo.mail import open_mail
from firmware.echo.nic import boot, main
from firmware.echo.shown import SHOWN
from firmware.layer import Boot, Layer

LAYER = Layer(
    name="echo",
    library=Echo,
    firmware=main,
    mail=open_mail,
    shown=SHOWN,
    boot=Boot(words=boot.words),
)
