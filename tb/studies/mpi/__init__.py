"""Studies of `mpi`."""

from pymodels.roots import beyond

__path__ += beyond(__name__)
