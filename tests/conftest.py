"""Property tests draw the same examples every time, so that a run has one result; HYPOTHESIS=explore draws new ones."""

import os

from hypothesis import settings

settings.register_profile("fixed", derandomize=True)
settings.register_profile("explore", derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS", "fixed"))
