"""Mail of all hosts over the layer chosen for a study, and round trips over it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from firmware.layers import open_mail, patient
from firmware.mail import Mail
from tb.lab.lab import Lab, Notebook
from tb.plan.studies import CHOICE
from tb.studies.kit.hosts import start_together, together
from tb.studies.kit.payload import pattern
from tb.studies.kit.rounds import Trips, round_trips


@dataclass(frozen=True)
class End:
    """Host of a measurement and its mail."""

    node: int
    mail: Mail


async def all_mails(lab: Lab) -> list[Mail]:
    """Start the chosen layer and return the mail of each host.

    Timers are set so long that they do not disturb a measurement, unless the user has set them.
    """
    layer = lab.text(CHOICE)
    given = {
        name: value for name, value in patient(layer).items() if f"{layer}.{name}" not in lab.plan.request.settings
    }
    mails = [open_mail(layer, library) for library in lab.start_layer(layer, given)]
    await start_together(lab, mails)
    return mails


async def finish(lab: Notebook, mails: list[Mail]) -> None:
    """End the mail of all hosts."""
    await together(lab, "end of host", [mail.finish() for mail in mails])


async def ping_pong(
    lab: Notebook,
    near: End,
    far: End,
    size: int,
    count: int,
    pause: Callable[[], int] | None = None,
    *,
    answer_first: bool = False,
    messages: int = 2,
) -> Trips:
    """Send messages of `size` bytes from the near host to the far one and back; see `round_trips`.

    `Trips.answers` holds the time in ps at which the far host finished each trip.
    """
    data = pattern(size)

    async def ask(number: int) -> None:
        lab.check("bytes of mail", await near.mail.request(far.node, data) == data, f"{size} bytes returned corrupted")

    async def answer() -> int:
        await far.mail.answer()
        return lab.kernel.now

    return await round_trips(lab, count, ask, answer, pause=pause, answer_first=answer_first, messages=messages)
