"""Table of the transactions that monitors have seen: `transactions.parquet`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pymodels.results import write_atomically
from tb.monitors.monitor import Monitor

FILE = "transactions.parquet"
COLUMNS = {
    "monitor": "string",
    "start_ps": "int64",
    "end_ps": "int64",
    "command": "string",
    "master": "int32",
    "address": "int64",
    "bytes": "int64",
    "data": "binary",
    "phases": "int32",
    "wait_clocks": "int32",
    "end": "string",
    "transactions": "int32",
    "retries": "int32",
    "port": "string",
    "requester": "string",
    "enables": "int32",
    "conflict": "bool_",
    "route": "binary",
    "type": "int64",
    "crc_good": "bool_",
    "gap_clocks": "int64",
    "stop_clocks": "int64",
}
"""Type of each column; tb/monitors/README.md describes them."""


def write_transactions(monitors: Iterable[Monitor[Any]], path: Path) -> None:
    """Write the transactions of all monitors, oldest first, as Parquet. Raises ResultsError if the disk is full."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [{"monitor": one.name, **one.row(each)} for one in monitors for each in one.transactions]
    rows.sort(key=lambda row: (row["end_ps"], row["monitor"]))
    schema = pa.schema([(name, getattr(pa, kind)()) for name, kind in COLUMNS.items()])
    file = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(rows, schema), file)
    write_atomically(path, [file.getvalue().to_pybytes()])
