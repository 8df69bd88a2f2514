"""A run of the tests has one result, on any machine, under any load, in any order.

Property tests draw the same examples every time; HYPOTHESIS=explore draws new ones. An example has no deadline, and
nobody complains that examples are slow to draw. Some examples are constants of the sources: hypothesis takes them from
all modules that have been imported, which depends on the tests before; here it takes none. Programs write to a terminal
of 80 columns without colours, whatever the variables of the caller say.
"""

import os

from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

for variable in ("COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "TERM"):
    os.environ.pop(variable, None)
providers._get_local_constants = lambda: providers._local_constants
settings.register_profile("fixed", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("explore", settings.get_profile("fixed"), derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS", "fixed"))
