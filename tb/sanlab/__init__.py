"""sanlab as a library: `import sanlab; sanlab.run("grim_pingpong", size=64, seed=3)`.

`studies()` lists the studies, `options("grim_pingpong")` the settings of one; see README.md in this folder. The library
runs in the user's process and needs only numpy; the laboratory runs in a child process.
"""

from .ask import Options, events, options, studies
from .errors import FailedError, RefusedError, SanlabError
from .result import Run, Series, load
from .running import run
from .sweeping import sweep

__all__ = [
    "FailedError",
    "Options",
    "RefusedError",
    "Run",
    "SanlabError",
    "Series",
    "events",
    "load",
    "options",
    "run",
    "studies",
    "sweep",
]
