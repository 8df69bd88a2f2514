"""Studies that compare a board with the RTL."""

from pymodels.roots import outside_folders

__path__ += outside_folders(__name__)
