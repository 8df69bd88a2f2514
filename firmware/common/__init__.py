"""Parts shared by the NIC programs and host libraries of several message layers."""
