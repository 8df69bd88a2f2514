"""Description of hardware, independent of any profile: keys and values, processors, kinds of NIC."""
