"""Programs around EPOS: the page of its compositions."""
