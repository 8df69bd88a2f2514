"""Settings that studies of TreadMarks reject before a build.

Strategy: requests as users make them, on clusters that are too small, with unknown programs and invalid numbers.
"""

from __future__ import annotations

import pytest

from pymodels.errors import ConfigError
from tb.plan import studies
from tb.plan.request import plan, resolve
from tb.tools.paths import SIMULATORS


@pytest.mark.parametrize(
    ("study", "settings", "says"),
    [
        ("tmk_apps", "", "processes: 8 processes"),
        ("tmk_apps", "processes=2 programs=sor,fftt", "program 'fftt'"),
        ("tmk_sizes", "programs=jacobbi", "program 'jacobbi'"),
        ("tmk_sizes", "tmk.processes=2 sizes=AE", "sizes: 'AE'"),
        ("tmk_async", "tmk.processes=3", "tmk.processes: 3 processes"),
        ("tmk_speedup", "counts=1,2,4", "counts: 4 processes"),
        ("tmk_speedup", "counts=1,two", "counts: 'two'"),
        ("tmk_micro", "", "tmk_micro: 8 processes"),
        ("tmk_substrate", "counts=2", "tmk_substrate: 4 processes"),
        ("tmk_random", "tmk.processes=3", "tmk.processes: 3 processes"),
    ],
)
def test_settings_that_need_more_than_two_hosts_are_rejected_before_the_build(
    study: str, settings: str, says: str
) -> None:
    request = resolve(study, "verilator", "1", False, "two_hosts", "", settings, SIMULATORS)
    with pytest.raises(ConfigError, match=says):
        plan(request, studies.load(study))


@pytest.mark.parametrize("study", ["tmk_apps", "tmk_sizes", "tmk_async", "tmk_speedup", "tmk_micro", "tmk_random"])
def test_all_studies_accept_eight_hosts(study: str) -> None:
    plan(resolve(study, "verilator", "1", False, "eight_hosts", "", "", SIMULATORS), studies.load(study))
