"""What the NIC programs and host libraries of several message layers share: it is no layer."""
