"""Studies of `host`, one file each."""

from pymodels.roots import beyond

__path__ += beyond(__name__)
