"""Networks of SP switches: valid networks, routes, and the settings for the RTL.

Strategy: the paper's fourteen hosts are routed and checked for cycles. Networks that SP switches cannot build are
rejected with exact texts. Settings are compared with hand calculations from the profile.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from pymodels.builders import cascade, host_names, single_switch
from pymodels.config import load_cluster
from pymodels.config.find import find_config
from pymodels.errors import ConfigError
from pymodels.formats.sp import ROUTE_BYTES
from pymodels.nics.sp.registers import SpSetting
from pymodels.profiles import load_profile
from pymodels.routes import Routes, find_cycle
from pymodels.settings import Setting
from pymodels.trace import CENTRAL_QUEUE, PORTS_PER_SWITCH, SWITCH_BASE, unit_name
from pymodels.updown import up_down
from tb.build.numbers import Numbers
from tb.build.top import cluster_design
from tb.plan.limits import check_switches
from tb.plan.settings import node_settings, switch_settings


def test_two_cascaded_chips_connect_fourteen_hosts_without_deadlock() -> None:
    topology = cascade(host_names(14))
    routes = up_down(topology)
    assert find_cycle(topology, routes) == ()
    lengths = {len(route) for route in routes.table.values()}
    assert lengths == {1, 2}
    assert max(lengths) <= ROUTE_BYTES


def test_a_fifteenth_host_is_rejected() -> None:
    with pytest.raises(Exception, match="two cascaded switches of 8 ports"):
        cascade(host_names(15))


def test_the_example_of_fourteen_hosts_matches_its_profile() -> None:
    cluster = load_cluster(find_config("fourteen_hosts", {}))
    check_switches(cluster, load_profile(cluster.profile or ""))


def test_a_switch_of_sixteen_ports_is_rejected_as_sp_switch() -> None:
    cluster = load_cluster(find_config("two_hosts", {}))
    wide = replace(cluster, topology=single_switch(cluster.names, 16))
    check_switches(wide, load_profile("lanai9"))
    with pytest.raises(ConfigError) as error:
        check_switches(wide, load_profile("sp"))
    assert "switch 's0' has 16 ports: profile 'sp+p3-450' has an SP adapter, and an SP switch chip has 8" in str(
        error.value
    )


def test_a_route_longer_than_the_header_is_rejected() -> None:
    cluster = load_cluster(find_config("two_hosts", {}))
    long = Routes({("paris", "metz"): bytes(9), ("metz", "paris"): bytes(8)})
    with pytest.raises(ConfigError, match="the route from paris to metz leads through 9 switches"):
        check_switches(replace(cluster, routes=long), load_profile("sp"))


def test_settings_of_an_sp_switch_follow_from_the_profile() -> None:
    """293 ns are 44 characters of 6.666 ns; 3 of them are the switch's own; 4 KB are 512 chunks."""
    settings = switch_settings(load_profile("sp"))
    assert settings[Setting.FALL_THROUGH] == 41
    assert settings[Setting.CENTRAL_CHUNKS] == 512
    assert switch_settings(load_profile("lanai9"))[Setting.CENTRAL_CHUNKS] == 0


def test_settings_of_an_adapter_scale_with_its_clocks() -> None:
    """Expect three clocks of 10 ns, or five of 4 ns, for a beat of the internal bus, and a fixed start-up time
    of DMA.
    """
    now, future = (node_settings(load_profile(name)) for name in ("sp", "sp-future"))
    assert (now[SpSetting.BUS_BEAT], now[SpSetting.BUS_ACCESS], now[SpSetting.DOORBELL]) == (3, 6, 0)
    assert (future[SpSetting.BUS_BEAT], future[SpSetting.BUS_ACCESS], future[SpSetting.DOORBELL]) == (5, 10, 1)
    assert now[Setting.DMA_START_CLOCKS] * 10 == future[Setting.DMA_START_CLOCKS] * 4


def test_a_cluster_of_sp_adapters_has_sp_switches() -> None:
    cluster = load_cluster(find_config("fourteen_hosts", {}))
    generated = cluster_design(cluster, load_profile("sp")).generated
    text = generated["cluster.sv"]
    assert text.count(".SP(1)") == 2 and text.count("sim_node #(") == 14
    assert "`define SIM_NIC_CARD sim_sp_nic\n" in generated["sim_nic_card.svh"]
    assert ".SP(1)" not in cluster_design(cluster, load_profile("lanai9")).generated["cluster.sv"]
    assert Numbers.from_cluster(cluster, load_profile("sp")).clocks == 3 * 14 + 2


def test_the_central_queue_has_a_name_in_the_trace() -> None:
    assert unit_name(SWITCH_BASE + PORTS_PER_SWITCH + CENTRAL_QUEUE) == "switch 1 central queue"
