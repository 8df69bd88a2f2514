"""What does address translation cost on the host, on the NIC and with a cache, and how often do programs miss it?

Strategy (paper 001, 2.3.3): pairs of hosts differ only in the place of the translation. AT1 costs the entry into the
kernel (`at1_us`, Table 2.2), which translation on the NIC avoids; the times of whole messages are recorded, too. AT3
costs the additional time of a message that misses the NIC's cache, divided by its misses, which the NICs count. Miss
rates come from address streams of communication kernels after six NAS Parallel Benchmarks, with one cache per process:
misses of sends and receives, compulsory or not; with an additional victim cache; and with 16 instead of 4 processes.
"""

from __future__ import annotations

from firmware.via.nic.layout import Counter, Word
from pymodels.npb import CODES, RUNS, SHAPES, WITH_VICTIMS, Misses, figure
from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.studies.via._via_case import Case
from tb.studies.via._via_ends import SMALL, End, pairs
from tb.studies.via._via_rounds import latency

LAYER = "via"
CLUSTER = "eight_hosts"
SIZE = 64
"""Bytes of a message: not inline, in one page."""
NEGLIGIBLE = 5.0
"""Miss rate in percent below which misses are negligible (our limit: the paper gives none)."""
MANY = 80.0
"""Miss rate in percent that the paper names."""
GAIN = 5.0
"""Gain of a victim cache, in percent of the look-ups, above which it is more than minimal (our limit)."""
CODES_AXIS = f"code: {' '.join(CODES)}"
CHOICES: dict[str, dict[str, float | str]] = {
    "at1": {"doorbell": "d2", "translation": "at1"},
    "at2": {"doorbell": "d1_ring", "translation": "at2"},
    "at3": {"doorbell": "d1_ring", "translation": "at3"},
}
"""Options of each place of translation: a kernel that translates also rings the doorbell; otherwise it is not entered.
"""
KINDS = ("send_compulsory", "send_other", "recv_compulsory", "recv_other")
OPTIONS = {
    "rounds": Option(20, "round trips of each place of translation", 2, 100_000),
    **layer_options(LAYER),
}
QUICK = "rounds=4"


async def run(lab: Lab) -> None:
    """Run the study."""
    for done, (problem, processes) in enumerate(RUNS):
        _figure(lab, problem, processes, figure(problem, processes))
        _victims(lab, f"{problem}{processes}", figure(problem, processes, WITH_VICTIMS))
        lab.progress(done + 1, len(RUNS) + len(CHOICES), "places of translation")
    for shape in SHAPES:
        few, many = (_rates(lab, where, shape) for where in ("A4", "A16"))
        less = [few[i] > NEGLIGIBLE and many[i] < few[i] for i in range(len(CODES))]
        lab.metric(f"codes_that_miss_less_with_16_processes_{shape}", sum(less))
    ends = await pairs(lab, CHOICES, {"inline": 0, **SMALL})
    times = {}
    for done, (choice, (near, far)) in enumerate(ends.items()):
        times[choice] = await _time(lab, near, far, 100)
        lab.metric(f"one_way_us_{choice}", times[choice])
        lab.progress(len(RUNS) + done + 1, len(RUNS) + len(CHOICES), "places of translation")
    begun = lab.kernel.now
    await ends["at1"][0].process.syscall()
    lab.metric("at1_us", (lab.kernel.now - begun) / 1e6)
    lab.metric("at3_hit_over_at2_us", times["at3"] - times["at2"])  # below 0 if the table of AT2 is in uncached memory
    near, far = ends["at3"]
    before = _misses(lab, near, far)
    missing = await _time(lab, near, far, 0)
    each = (_misses(lab, near, far) - before) / (2 * lab.option("rounds"))
    lab.metric("at3_misses_per_message", each)
    lab.check("time with cache misses", missing > times["at3"], "a message with cache misses does not take longer")
    lab.metric("at3_miss_us", (missing - times["at3"]) / each if each else 0.0)
    for where in (f"{problem}{processes}" for problem, processes in RUNS):
        for shape in SHAPES:
            costs = [rate / 100 * lab.findings.metrics["at3_miss_us"] for rate in _rates(lab, where, shape)]
            lab.series(f"at3_us_{where}_{shape}", range(len(CODES)), costs, CODES_AXIS, "us")


async def _time(lab: Lab, near: End, far: End, reuse: int) -> float:
    """Return the one-way time; with `reuse` 0 every message has its own buffer."""
    return (await latency(near, far, Case(SIZE, reuse=reuse), lab.option("rounds"))).value


def _misses(lab: Lab, near: End, far: End) -> int:
    """Return the number of cache misses that both NICs have counted."""
    return sum(lab.running.nics[end.node].load(Word.COUNTERS + 4 * Counter.MISSES) for end in (near, far))


def _rates(lab: Lab, where: str, shape: str) -> list[float]:
    """Return the miss rates of all codes, in percent."""
    return [lab.findings.metrics[f"miss_percent_{code}_{where}_{shape}"] for code in CODES]


def _victims(lab: Lab, where: str, found: dict[tuple[str, str], Misses]) -> None:
    """Record the miss rates with a victim cache, and the number of codes that benefit."""
    for shape in WITH_VICTIMS:
        rates = [100 * found[code, shape].rate for code in CODES]
        lab.series(f"with_victims_{where}_{shape}", range(len(CODES)), rates, CODES_AXIS, "percent of look-ups")
        gains = [before - after for before, after in zip(_rates(lab, where, shape), rates, strict=True)]
        lab.metric(f"codes_gaining_by_victims_{where}_{shape}", sum(gain > GAIN for gain in gains))


def _figure(lab: Lab, problem: str, processes: int, found: dict[tuple[str, str], Misses]) -> None:
    """Record one plot of the paper: miss rates by code for each cache, and their ranking."""
    where = f"{problem}{processes}"
    for (code, shape), misses in found.items():
        lab.metric(f"miss_percent_{code}_{where}_{shape}", 100 * misses.rate)
    for shape in SHAPES:
        rates = [100 * found[code, shape].rate for code in CODES]
        lab.metric(f"codes_over_80_percent_{where}_{shape}", sum(rate > MANY for rate in rates))
        lab.metric(f"codes_that_miss_{where}_{shape}", sum(rate > NEGLIGIBLE for rate in rates))
        for kind in KINDS:
            shares = [100 * getattr(found[code, shape], kind) / found[code, shape].lookups for code in CODES]
            lab.series(f"{kind}_{where}_{shape}", range(len(CODES)), shares, CODES_AXIS, "percent of look-ups")
    same = [abs(found[code, "1024"].rate - found[code, "128x8"].rate) < 1e-9 for code in CODES]
    lab.metric(f"codes_with_1024_as_128x8_{where}", sum(same))
