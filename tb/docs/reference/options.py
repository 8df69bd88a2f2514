"""Reference page of the settings, read from the schema: each study, each layer, every study, the hardware profiles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from firmware.layers import names as layer_names
from pymodels.profiles import load_profile
from pymodels.profiles.profile import profile_names
from tb.docs.markdown import code, escape, table
from tb.plan import studies
from tb.plan.described import RUN, STUDY, Setting, settings_of

HEAD = ("setting", "default", "values", "meaning")


def page() -> Iterator[str]:
    """Yield the page."""
    yield from ("# Settings", "", 'Keys of `SET="key=value ..."`, for anyone who runs a study.', "")
    yield "`sanlab studies STUDY` prints those of one study; with `--profile`, also the values of a profile."
    every = {name: settings_of(studies.load(name)) for name in studies.names()}
    groups: dict[str, dict[str, Setting]] = {}
    for one in (one for known in every.values() for one in known):
        groups.setdefault(one.group, {}).setdefault(one.name, one)
    yield from ("", "## Settings of every study", "", *_rows(groups[RUN].values()))
    yield from ("## Settings of layers", "")
    for layer in layer_names():
        if group := groups.get(f"layer {layer}"):
            yield from (f"### layer {layer}", "", *_rows(group.values()))
    yield from ("## Settings of studies", "")
    for name, known in every.items():
        if own := [one for one in known if one.group == STUDY]:
            yield from (f"### study {name}", "", escape(studies.load(name).question), "", *_rows(own))
    yield from _profiles()


def _rows(settings: Iterable[Setting]) -> Iterator[str]:
    return table(
        HEAD,
        ((code(one.name), code(str(one.default)), escape(one.values), escape(one.meaning)) for one in settings),
    )


def _profiles() -> Iterator[str]:
    yield from ("## Values of profiles", "")
    yield from ("Every value of a profile is a setting too. `origin` says where the value comes from.", "")
    for name in profile_names():
        profile = load_profile(name)
        keys = profile.keys
        yield from (f"### profile {profile.name}", "")
        yield from table(
            ("setting", "value", "unit", "origin", "meaning", "source"),
            (
                (
                    code(key),
                    code(str(one.value)),
                    keys[key].unit,
                    one.origin.value,
                    escape(keys[key].meaning),
                    escape(one.source),
                )
                for key, one in profile.values.items()
            ),
        )
