"""Which benches try the mutants of a module, and in which order.

Strategy: modules that are at the top of a bench, inside of others, and only named by a file of a bench are looked up.
What a bench has an instance of is read from its program of Icarus, so some are built here.
"""

from __future__ import annotations

from tb.quality.benches import benches_of, instantiated, module_checks, naming


def test_a_module_is_tried_by_its_own_bench_first() -> None:
    assert benches_of("myri_fifo")[0] == "fifo"
    assert [one.name for one in module_checks("myri_index")] == ["bench sp_switch", "proof"]
    assert benches_of("no_such_module") == []


def test_a_bench_that_only_names_a_module_does_not_try_it() -> None:
    assert "sp_engines" in naming("myri_nic_host")
    assert "myri_nic_host" not in instantiated("sp_engines") and "myri_nic_card" not in instantiated("sp_engines")
    assert "sp_bus" in instantiated("sp_engines")
