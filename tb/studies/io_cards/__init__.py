"""Studies of `io_cards`, one file each."""

from pymodels.roots import outside_folders

__path__ += outside_folders(__name__)
