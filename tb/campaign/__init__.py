"""A campaign of faults: what single faults do to the messages of a layer."""
