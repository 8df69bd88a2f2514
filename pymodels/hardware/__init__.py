"""The description of hardware, independent of any profile: values and their keys, processors, kinds of NIC."""
