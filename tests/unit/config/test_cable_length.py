"""Rejection of a cable with more characters in flight than a slack buffer holds, before a build.

Strategy: the longest allowed length is computed for random settings of the link and compared with a count of
characters. At that length everything that may arrive after STOP fits; one more character of flight does not. Error
texts are compared exactly.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pymodels.config import Cluster, load_cluster
from pymodels.config.find import find_config
from pymodels.errors import ConfigError
from pymodels.profiles import Profile, load_profile
from tb.plan.limits import STOP_SLOTS, check_cables, longest_cable


def profile(**settings: str) -> Profile:
    """Return the LANai 9 profile with settings, by key with `_` in place of the full stop."""
    return load_profile("lanai9").override({key.replace("_", ".", 1): value for key, value in settings.items()})


@pytest.fixture(name="cluster")
def fixture_cluster() -> Cluster:
    """Return the example cluster, whose cables have the profile's length."""
    return load_cluster(find_config(None, {}))


@given(slack=st.integers(8, 128), free=st.integers(STOP_SLOTS, 100), ps=st.sampled_from((4000, 6250, 12500)))
def test_the_longest_cable_is_the_last_that_fits(slack: int, free: int, ps: int) -> None:
    mark = max(slack - free, 2)
    values = profile(link_slack=str(slack), link_stop_mark=str(mark), link_go_mark="1", clock_link_ps=str(ps))
    longest = longest_cable(values)
    if longest < 0:
        assert slack - mark < 2 + STOP_SLOTS
        return
    flight = values.cable_characters(longest)
    assert 2 * flight + STOP_SLOTS <= slack - mark
    assert 2 * values.cable_characters(longest * 1.001 + 0.001) + STOP_SLOTS > slack - mark


def test_a_cable_that_is_too_long_is_rejected_with_the_longest_length(cluster: Cluster) -> None:
    check_cables(cluster, profile(cable_metres="9.6"))
    with pytest.raises(ConfigError) as error:
        check_cables(cluster, profile(cable_metres="12"))
    assert str(error.value) == (
        f"{cluster.file}: the cable between paris and s0 is too long: 12 m: 30 characters may still arrive after a "
        "slack buffer has sent STOP, but it has room for 24 (link.slack 80, link.stop_mark 56); use at most 9.61 m "
        "(LINK, or SET cable.metres=...), or lower link.stop_mark"
    )


def test_a_slack_buffer_without_room_allows_no_cable(cluster: Cluster) -> None:
    with pytest.raises(ConfigError, match=r"room for 3 \(link.slack 80, link.stop_mark 77\); lower link.stop_mark"):
        check_cables(cluster, profile(link_stop_mark="77"))


def test_a_cable_of_length_zero_delays_by_one_character(cluster: Cluster) -> None:
    check_cables(cluster, profile(cable_metres="0", link_stop_mark="74"))
    with pytest.raises(ConfigError, match=r"0 m: 6 characters may still arrive .* it has room for 5"):
        check_cables(cluster, profile(cable_metres="0", link_stop_mark="75"))


def test_cables_without_time_of_flight_may_have_any_length(cluster: Cluster) -> None:
    check_cables(cluster, profile(cable_ns_per_metre="0", cable_metres="200"))
