"""Host library `tmk`: TreadMarks, distributed shared memory over UDP or VIA."""
