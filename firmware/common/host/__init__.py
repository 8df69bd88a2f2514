"""Parts of host libraries that several message layers use."""
