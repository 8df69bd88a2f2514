"""What are o, L, g and G of a message layer, and how well does LogGP predict an all-to-all of eight hosts?

Strategy: netgauge's PRTT(n, d, s) is measured between the first host and the last one (`_loggp.py`), for sizes in equal
steps. Each value is the median of some rounds at random phases; the parameters follow from them (`pymodels/loggp`).
Then all hosts post a message to each other host, the next one first, and receive those of all others. LogGOPSim's
recurrence predicts the same schedule from the parameters alone, without fitting. The stages of messages explain the
difference: those of the first host are timed in the all-to-all, and before it in single messages of the same size.

Files beside the results: `loggp.txt`, in the columns of netgauge, and `alltoall.goal` and `loggopsim.sh` for LogGOPSim,
in ps.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path

from firmware.layers import with_mail
from firmware.mail import Mail
from pymodels.loggp import goal
from pymodels.loggp.parameters import LogGP, Rounds, fitted
from pymodels.loggp.predict import EVERYTHING, LogGOPS, finish_times
from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.studies.costs._loggp import Pair, sizes_up_to, variants
from tb.studies.kit.mail import End, all_mails, finish
from tb.studies.kit.payload import pattern
from tb.studies.kit.stages import stage_times
from tb.studies.kit.traffic import exchange, to_all_from_next

CLUSTER = "eight_hosts"
LAYERS = with_mail()
OPTIONS = {
    "repetitions": Option(1, "rounds of each kind and size", 1, 1000),
    "sizes": Option(3, "number of message sizes, from one word on", 2, 100),
    "largest": Option(1024, "largest message in bytes; limited by the layer", 8, 1 << 16, unit="bytes"),
    "exchange": Option(64, "bytes of a message of the all-to-all", 1, 1 << 16, unit="bytes"),
}
QUICK = "repetitions=1 sizes=3"
VARIANTS = variants("repetitions=3 sizes=4")
ALONE = 3
"""Number of single messages whose stages are timed."""
REST_PS = 50_000_000


async def run(lab: Lab) -> None:
    """Run the study."""
    mails = await all_mails(lab)
    last = len(mails) - 1
    pair = Pair(lab, End(0, mails[0]), End(last, mails[last]), lab.option("repetitions"), lab.seed)
    rounds = []
    sizes = sizes_up_to(min(lab.option("largest"), mails[0].most), lab.option("sizes"))
    for size in sizes:
        rounds.append(await pair.measure(size))
        lab.progress(len(rounds), len(sizes), "sizes")
    lab.findings.messages += pair.messages
    found = fitted(rounds)
    _hand_in(lab, rounds, found)
    size = min(lab.option("exchange"), mails[0].most)
    alone = await _alone(lab, mails, size)
    since = lab.kernel.now
    targets = to_all_from_next(len(mails), len(mails) - 1)
    measured = [ps / 1e6 for ps in await exchange(lab, mails, targets, pattern(size))]
    _compare(lab, measured, found, mails[0].longest_eager, size)
    _explain(lab, alone, stage_times(lab, 0, since))
    await finish(lab, mails)


def _hand_in(lab: Lab, rounds: Sequence[Rounds], found: LogGP) -> None:
    """Record the parameters in us, per byte in ns; their measured values as curves and in a file."""
    for name, ps in {"o_s": found.o_s, "o_r": found.o_r, "latency": found.L, "gap": found.g}.items():
        lab.metric(f"{name}_us", ps / 1e6)
    lab.metric("gap_misfit_us", found.misfit / 1e6)
    lab.metric("gap_ns_per_B", found.G / 1e3)
    lab.metric("overhead_ns_per_B", found.O / 1e3)
    sizes = [one.size for one in rounds]
    lab.series("round_single", sizes, [one.single / 1e6 for one in rounds], "B", "us")
    lab.series("round_burst", sizes, [one.burst / 1e6 for one in rounds], "B", "us")
    lab.series("message_send", sizes, [one.o_s / 1e6 for one in rounds], "B", "us")
    lab.series("message_receive", sizes, [one.o_r / 1e6 for one in rounds], "B", "us")
    lab.series("message_gap", sizes, [one.gap / 1e6 for one in rounds], "B", "us")
    lab.series("message_line", sizes, [(found.g + (size - 1) * found.G) / 1e6 for size in sizes], "B", "us")
    late = [one.size for one in rounds if one.delay < one.gap]
    lab.check(
        "delay between messages", not late, f"the delay between messages of {late} bytes is shorter than their gap"
    )
    lines = ["# size n PRTT(1,0,s) PRTT(n,0,s) PRTT(n,PRTT(1,0,s),s) L o_s o_r g G lsqu(g,G), times in us"]
    for one in rounds:
        times = one.single, one.burst, one.spaced, found.L, one.o_s, one.o_r, found.g, found.G, found.misfit
        lines.append(" ".join([f"{one.size} {one.count}", *(f"{ps / 1e6:.6f}" for ps in times)]))
    _write(lab, "loggp.txt", "\n".join([*lines, ""]))


async def _alone(lab: Lab, mails: Sequence[Mail], size: int) -> dict[str, list[float]]:
    """Return the times of single messages from the first host to each other one in turn, in us, by stage."""
    since = lab.kernel.now
    for number in range(ALONE):
        target = 1 + number % (len(mails) - 1)
        receives = lab.spawn(mails[target].receive(), "the far host")
        await mails[0].send(target, pattern(size))
        await lab.all([receives])
        await lab.kernel.sleep(REST_PS, "silence")
    lab.findings.messages += ALONE
    return stage_times(lab, 0, since)


def _compare(lab: Lab, measured: Sequence[float], found: LogGP, longest_eager: int | None, size: int) -> None:
    """Record measured and predicted times, and write the files for LogGOPSim."""
    eager = EVERYTHING if longest_eager is None else longest_eager
    parameters = LogGOPS(round(found.L), round(found.o), round(found.g), round(found.G), round(found.O), eager)
    schedule = goal.all_to_all(len(measured), size)
    predicted = [ps / 1e6 for ps in finish_times(schedule, parameters)]
    lab.metric("alltoall_us_measured", max(measured))
    lab.metric("alltoall_us_predicted", max(predicted))
    lab.metric("alltoall_percent_predicted", 100 * max(predicted) / max(measured))
    hosts = list(range(len(measured)))
    lab.series("alltoall_measured", hosts, measured, "host", "us")
    lab.series("alltoall_predicted", hosts, predicted, "host", "us")
    _write(lab, "alltoall.goal", goal.text(schedule))
    commands = "txt2bin -i alltoall.goal -o alltoall.bin", f"LogGOPSim -f alltoall.bin {parameters.words()}"
    _write(lab, "loggopsim.sh", "\n".join(["# times in ps", *commands, ""]))


def _explain(lab: Lab, alone: dict[str, list[float]], together: dict[str, list[float]]) -> None:
    """Record, by stage, the mean time of a single message and of one in the all-to-all."""
    for stage, times in together.items():
        lab.metric(f"alltoall_stage_us_{stage}", statistics.mean(times))
        if stage in alone:
            lab.metric(f"alone_stage_us_{stage}", statistics.mean(alone[stage]))


def _write(lab: Lab, name: str, text: str) -> None:
    Path(lab.plan.request.folder, name).write_text(text, encoding="utf-8")
