"""What each kind of NIC is on the RTL, one module a kind: its verbs (`NIC`), and what its waves show (`WAVES`)."""
