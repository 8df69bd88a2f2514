"""One file a study, found by its name."""

from pymodels.roots import beyond

__path__ += beyond(__name__)
