"""Choice and order of the benches that run the mutants of a module.

Strategy: the benches are listed for modules that are the top of a bench, inside of others, or only named by a file of a
bench. The instances of a bench are read from its Icarus program, so some are built here.
"""

from __future__ import annotations

from tb.quality.benches import benches_of, instantiated, module_checks, naming


def test_mutants_of_a_module_run_on_its_own_bench_first() -> None:
    assert benches_of("myri_fifo")[0] == "fifo"
    assert [one.name for one in module_checks("myri_index")] == ["bench sp_switch", "proof"]
    assert benches_of("no_such_module") == []


def test_a_bench_that_only_names_a_module_runs_no_mutants_of_it() -> None:
    assert "sp_engines" in naming("myri_nic_host")
    assert "myri_nic_host" not in instantiated("sp_engines") and "myri_nic_card" not in instantiated("sp_engines")
    assert "sp_bus" in instantiated("sp_engines")
