"""Speed of the laboratory itself: `make bench`."""
