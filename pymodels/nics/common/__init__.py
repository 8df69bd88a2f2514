"""What several kinds of NIC share; no kind itself."""
