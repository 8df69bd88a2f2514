"""Do the compiled paths take the clocks on a LANai's core that the model charges for them?

Strategy: for every path of every layer that is compiled for the LANai, at three optimisation levels, two costs are
compared: the clocks that the profile's processor charges, and the minimum and maximum clocks on the core, from the
committed `executed.toml` (`pymodels/costs/executed.py`). The search of a channel is also given in the units of Figure
4.10. Then echo runs between the first and the last host. With `nic.firmware=c` the NICs execute its C in RTL, and the
stalls of the core are counted. `executed_costs.md` lists all paths, and the clocks of the first host's core by function
and by line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from pymodels import generated
from pymodels.costs import executed
from pymodels.errors import ConfigError
from pymodels.hardware.processors import NicProcessor, nic_charge
from pymodels.lanai.faults import Stall
from pymodels.lanai.profile import Profile, table
from pymodels.nics.common.lanai import core_pace
from pymodels.roots import files_by_name
from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.plan.request import Plan

LAYER = "echo"
OPTIONS = {"repetitions": Option(5, "round trips of echo", 1, 100_000)}
VARIANTS = {"c": ("", "nic.firmware=c"), "lanai4": ("lanai4", "")}
USUAL = "-O2"
"""Optimisation level at which the costs are counted."""
SEARCHED, AROUND = "poll_channel", ("search_begin", "search_over")
"""Step of GRIM's search, and the code that the timed search of Figure 4.10 executes once besides its steps."""
READ = 1
"""Clock of the RTC read that ends the search."""
CHANNELS = (1, 8, 16, 32)
"""Numbers of channels in Figure 4.10."""
BYTES = 8
WITHIN = 0.1
"""Accepted relative difference between the charged and the executed clocks of all paths of a layer."""
NAMED = {"common": "hardware"}
"""Names in metrics that differ from those of the folder, so that results keep their names."""


@dataclass(frozen=True)
class Beside:
    """Path with its charged clocks, and its minimum and maximum executed clocks."""

    layer: str
    level: str
    path: str
    charged: int
    least: int
    most: int

    @property
    def ratio(self) -> float:
        """Executed over charged clocks."""
        return (self.least + self.most) / 2 / self.charged


def check(plan: Plan) -> None:
    """Raise ConfigError for a core whose clocks are not in the tables, StaleError for a table of other C sources."""
    kind = plan.profile.kind
    if kind not in executed.PACES:
        known = ", ".join(executed.PACES)
        raise ConfigError("PROFILE", 0, f"no path clocks for {kind!r}", f"clocks are known for {known}", "choose one")
    if core_pace(plan.profile) != executed.PACES[kind]:
        cause = f"the path clocks were counted for {executed.PACES[kind]}"
        raise ConfigError("SET", 0, "another core", cause, "leave processor.* and core.* as the profile has them")
    for layer in layers():
        executed.load(layer)


async def run(lab: Lab) -> None:
    """Run the study."""
    chip, processor = lab.plan.profile.kind, NicProcessor.from_profile(lab.plan.profile)
    found = [one for layer in layers() for one in beside(layer, chip, processor)]
    for layer in layers():
        for level in executed.LEVELS:
            _sums(lab, layer, level, [one for one in found if (one.layer, one.level) == (layer, level)])
    _search(lab, found)
    _curve(lab, [one for one in found if one.level == USUAL])
    await _echo(lab)
    lines = [*_table(found), *_core(lab)]
    (Path(lab.plan.request.folder) / "executed_costs.md").write_text("\n".join([*lines, ""]), encoding="utf-8")


def layers() -> list[str]:
    """Return the layers with paths for the LANai, sorted."""
    paths = files_by_name("firmware", "*/nic/paths.c").items()
    return [name for name, path in paths if generated.found(path.with_name(executed.TABLE)) is not None]


def beside(layer: str, chip: str, processor: NicProcessor) -> Iterator[Beside]:
    """Yield the paths of a layer at every level; the verbs' own instructions are added."""
    for level, paths in executed.load(layer).items():
        for path, one in paths.items():
            charged = nic_charge(one.cost, processor).clocks + one.by_verb
            yield Beside(layer, level, path, charged, *one.clocks[chip])


def _sums(lab: Lab, layer: str, level: str, rows: list[Beside]) -> None:
    """Record the totals of a layer's paths."""
    charged, name = sum(one.charged for one in rows), f"{NAMED.get(layer, layer)}_{level[1:]}"
    lab.metric(f"clocks_charged_{name}", charged)
    lab.metric(f"clocks_least_{name}", sum(one.least for one in rows))
    lab.metric(f"clocks_most_{name}", sum(one.most for one in rows))
    taken = sum(one.least + one.most for one in rows) / 2
    lab.metric(f"taken_over_charged_{name}", taken / charged)
    near = abs(taken / charged - 1) <= WITHIN
    lab.check(f"clocks of {layer} at {level}", near, f"{taken:g} clocks executed, but {charged} charged")


def search_clocks(rows: Sequence[Beside], level: str, channels: int) -> tuple[int, int, int]:
    """Return the clocks of a search of `channels` empty channels: charged, minimum, maximum.

    Args:
        rows: GRIM's paths.
        level: optimisation level.
        channels: number of channels.
    """
    times = {SEARCHED: channels, **dict.fromkeys(AROUND, 1)}
    own = [(times[one.path], one) for one in rows if (one.layer, one.level) == ("grim", level) and one.path in times]
    charged, least, most = (
        sum(count * getattr(one, name) for count, one in own) for name in ("charged", "least", "most")
    )
    return charged + READ, least + READ, most + READ


def _search(lab: Lab, rows: list[Beside]) -> None:
    """Record the search of a channel by level, and Figure 4.10 as charged, with the range over the levels."""
    us = lab.plan.profile.integer("clock.nic_ps") / 1e6
    for one in rows:
        if one.path == SEARCHED:
            for name, clocks in (("charged", one.charged), ("least", one.least), ("most", one.most)):
                lab.metric(f"channel_clocks_{name}_{one.level[1:]}", clocks)
    for count in CHANNELS:
        found = [search_clocks(rows, level, count) for level in executed.LEVELS]
        lab.metric(f"search_us_charged_{count}_channels", us * search_clocks(rows, USUAL, count)[0])
        lab.metric(f"search_us_least_{count}_channels", us * min(least for _, least, _ in found))
        lab.metric(f"search_us_most_{count}_channels", us * max(most for _, _, most in found))


def _curve(lab: Lab, rows: list[Beside]) -> None:
    """Record executed over charged clocks: the mean over the paths with the same charged clocks."""
    x = sorted({one.charged for one in rows})
    y = [fmean((one.least + one.most) / 2 for one in rows if one.charged == charged) for charged in x]
    lab.series("taken_by_charged", x, y, "clocks charged", "clocks taken")


async def _echo(lab: Lab) -> None:
    """Make round trips of echo and, if the cores execute C, record their stalls."""
    hosts = lab.start_layer(LAYER)
    for host in hosts:
        await host.start()
    near, far, begun = hosts[0], hosts[-1], lab.kernel.now
    for number in range(lab.option("repetitions")):
        answer = lab.spawn(far.echo(), "the far host's echo")
        await near.send(len(hosts) - 1, bytes(BYTES))
        lab.check(
            "returned messages",
            await near.receive() == (len(hosts) - 1, bytes(BYTES)),
            f"message {number} returned corrupted",
        )
        await lab.all([answer])
        lab.findings.messages += 2
    lab.metric(f"echo_one_way_us_{BYTES}B", (lab.kernel.now - begun) / lab.option("repetitions") / 2 / 1e6)
    for node, core in sorted(lab.running.cores.items()):
        executions, *waits = core.counts.sum(axis=0)
        lab.metric(f"core_{node}_clocks_an_instruction", 1 + float(sum(waits) / executions))
        for stall, clocks in zip(list(Stall)[1:], waits, strict=True):
            lab.metric(f"core_{node}_{stall.name.lower()}_percent", 100 * float(clocks / (executions + sum(waits))))


def _table(rows: list[Beside]) -> Iterator[str]:
    """Yield the table of every path at every level, line by line."""
    yield "| layer | path | level | charged | minimum | maximum | executed / charged |"
    yield "|---|---|---|---|---|---|---|"
    for one in sorted(rows, key=lambda one: (one.layer, one.path, one.level)):
        cells = (one.layer, one.path, one.level, one.charged, one.least, one.most, f"{one.ratio:.2f}")
        yield f"| {' | '.join(map(str, cells))} |"


def _core(lab: Lab) -> Iterator[str]:
    """Yield the table of the clocks that the first core executing C has spent, line by line."""
    for _, core in sorted(lab.running.cores.items())[:1]:
        profile = Profile.counted(core.program, core.counts.tolist())
        for rows in (profile.functions(), profile.lines()):
            yield from ("", "```", *table(rows), "```")
