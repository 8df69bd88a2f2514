"""The first call in a simulator's Python: cocotb without pytest.

cocotb imports pytest for what tests may expect, and to rewrite their asserts. A study asks for neither, and the import
takes a third of a short run. A stand-in has what cocotb asks for while it is imported. What it asks for later, to judge
a run that failed, is the real one's; whoever imports pytest later gets that, too.
"""

from __future__ import annotations

import importlib
import os
import sys
from types import ModuleType, SimpleNamespace


def begin() -> None:
    """Import cocotb, then make the first calls that it wants."""
    stand_in = ModuleType("pytest")
    vars(stand_in)["raises"] = SimpleNamespace(Exception=AssertionError)
    sys.modules["pytest"] = stand_in
    try:
        manager = importlib.import_module("cocotb.regression").RegressionManager
        manager.setup_pytest_assertion_rewriting = lambda _: None
    finally:
        del sys.modules["pytest"]
    vars(stand_in)["__getattr__"] = lambda name: getattr(importlib.import_module("pytest"), name)
    del os.environ["PYGPI_USERS"]  # it named us
    importlib.import_module("pygpi.entry").load_entry()
