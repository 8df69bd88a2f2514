"""RTL back ends of the NIC kinds, one module a kind: the class with its verbs (`NIC`) and its wave view (`WAVES`)."""

from pymodels.roots import outside_folders

__path__ += outside_folders(__name__)
