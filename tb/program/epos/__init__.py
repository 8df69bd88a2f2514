"""Programs for EPOS: the page of its compositions."""
