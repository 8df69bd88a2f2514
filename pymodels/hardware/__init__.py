"""What is said of hardware before there is a profile: values and their keys, processors, kinds of NIC."""
