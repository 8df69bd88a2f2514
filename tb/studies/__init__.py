"""Studies, each in a file of its own that is found by its name."""

from pymodels.roots import beyond

__path__ += beyond(__name__)
