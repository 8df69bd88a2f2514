"""Studies for tests only, each of which provokes one situation, named `tests.system.scenarios.<name>`."""
