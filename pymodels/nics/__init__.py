"""One folder for each kind of NIC (`pymodels.hardware.kind`), and `common` for what several of them share."""
