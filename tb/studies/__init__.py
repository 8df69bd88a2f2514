"""Studies, each in a file of its own that is found by its name."""

from pymodels.roots import outside_folders

__path__ += outside_folders(__name__)
