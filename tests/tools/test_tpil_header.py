"""Cut-offs of TPIL in a C program: the exported header, compiled and run.

Strategy: a program that includes the header is compiled without warnings. Its choices are compared with those of the
configuration at the cut-offs and beside them, for aligned and misaligned transfers.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from firmware.tpil.host import Config, Method, write_header
from tb.tools.programs import CC

MEASURED = Config(((0, Method.WORDS), (12, Method.MMX), (4301, Method.DIRECT)), ((0, Method.MMX), (64, Method.BOUNCE)))
PROGRAM = r"""
#include <stdio.h>
#include "tpil.h"
int main(void) {
    unsigned long long source, target, bytes;
    while (scanf("%llu %llu %llu", &source, &target, &bytes) == 3) printf("%d\n", tpil_choose(source, target, bytes));
    return 0;
}
"""


def test_c_program_with_the_header_chooses_the_same_methods(tmp_path: Path) -> None:
    write_header(tmp_path / "tpil.h", MEASURED)
    (tmp_path / "choose.c").write_text(PROGRAM, encoding="utf-8")
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    program = tmp_path / "choose"
    subprocess.run([CC, *flags, "-o", program, tmp_path / "choose.c"], check=True)
    asked = [(0x1000 + skew, 8, size) for skew in (0, 1, 4) for size in (1, 11, 12, 63, 64, 4300, 4301, 1 << 20)]
    lines = "\n".join(" ".join(map(str, one)) for one in asked)
    told = subprocess.run([program], input=lines, capture_output=True, encoding="utf-8", check=True).stdout.split()
    assert [list(Method)[int(number)] for number in told] == [MEASURED.choose(*one) for one in asked]
