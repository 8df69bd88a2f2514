"""Building blocks of studies: start of layers, round trips, streams, loads, and their evaluation."""
