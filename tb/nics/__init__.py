"""What each kind of NIC is on the RTL, one module a kind: its verbs (`NIC`), and what its waves show (`WAVES`)."""

from pymodels.roots import beyond

__path__ += beyond(__name__)
