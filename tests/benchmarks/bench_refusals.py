"""What it takes to refuse hostile files of growing size, 10³ to 10⁶ times a thing: seconds and memory.

A refusal takes time of the bytes: ten times as many take ten times as long at most. Seconds are those of the
processor, which other work does not change. The memory is that of the program, or what this process had when
it started it.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SIZES = (1_000, 10_000, 100_000, 1_000_000)
MOST_SECONDS, MOST_BYTES = 5.0, 1 << 30
SHEET = "xl/worksheets/sheet1.xml"


def _names(n: int) -> list[str]:
    return [f"c{at}" for at in range(n)]


def _workbook(sheet: str) -> bytes:
    """A workbook of one sheet, of which the text between the rows is given."""
    import openpyxl

    held, changed = io.BytesIO(), io.BytesIO()
    openpyxl.Workbook().save(held)
    with zipfile.ZipFile(held) as whole, zipfile.ZipFile(changed, "w", zipfile.ZIP_DEFLATED) as file:
        for name in whole.namelist():
            text = whole.read(name)
            if name == SHEET:
                text = text.replace(b"<sheetData />", b"<sheetData>" + sheet.encode() + b"</sheetData>")
                text = text.replace(b"<sheetData/>", b"<sheetData>" + sheet.encode() + b"</sheetData>")
            file.writestr(name, text)
    return changed.getvalue()


def _far(n: int) -> str:
    return '<row r="1"><c r="A1"><v>1</v></c></row>' + "".join(
        f'<row r="{at + 2}"><c r="XFD{at + 2}"/></row>' for at in range(n // 10)
    )


KINDS: dict[str, tuple[str, Callable[[int], str | bytes]]] = {
    "columns of CSV": ("csv", lambda n: ",".join(_names(n)) + "\n" + ",".join("1" * n) + "\n"),
    "columns of JSON lines": ("jsonl", lambda n: "{" + ",".join(f'"{name}":1' for name in _names(n)) + "}"),
    "columns of JSON": ("json", lambda n: "[{" + ",".join(f'"{name}":1' for name in _names(n)) + "}]"),
    "names, one a line": ("jsonl", lambda n: "\n".join(f'{{"{name}":1}}' for name in _names(n))),
    "names, one a row": ("json", lambda n: "[" + ",".join(f'{{"{name}":1}}' for name in _names(n)) + "]"),
    "names, one a column": ("json", lambda n: "{" + ",".join(f'"{c}":{{"{c}":1}}' for c in _names(n)) + "}"),
    "short rows": ("csv", lambda n: ",".join(_names(n // 10)) + "\n" + "1\n" * n),
    "nesting of JSON": ("json", lambda n: "[" * n + "]" * n),
    "nesting of JSON lines": ("jsonl", lambda n: '{"a":' * n + "1" + "}" * n),
    "a long cell of CSV": ("csv", lambda n: f"model,score\n{'x' * 32 * n},1\n"),
    "an open quote": ("csv", lambda n: 'model,score\n"' + "a,1\n" * n),
    "far cells of a workbook": ("xlsx", lambda n: _workbook(_far(n))),
    "a long attribute": ("xlsx", lambda n: _workbook(f'<row r="1" x="{"x" * 32 * n}"/>')),
    "many attributes": ("xlsx", lambda n: _workbook(f"<row {'=_ '.join(_names(n))}=_/>".replace("_", "'1'"))),
    "nesting of a workbook": ("xlsx", lambda n: _workbook("<a>" * n + "</a>" * n)),
}


def refused(path: Path) -> tuple[float, int, int, int]:
    """Seconds of the processor, bytes of memory, exit status and lines of ``rank``."""
    with tempfile.TemporaryFile() as said:
        one = subprocess.Popen(
            [sys.executable, "-P", "-m", "riskrank", "rank", str(path)],
            stdout=subprocess.DEVNULL,
            stderr=said,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
        )
        _, status, used = os.wait4(one.pid, 0)
        said.seek(0)
        lines = len(said.read().splitlines())
    one.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, one.returncode, lines


def main() -> int:
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for kind, (suffix, make) in KINDS.items():
            shown = []
            for size in SIZES:
                content = make(size)
                path = Path(folder, f"t.{suffix}")
                path.write_bytes(content.encode() if isinstance(content, str) else content)
                seconds, memory, status, lines = refused(path)
                held = status == 2 and lines == 3 and seconds < MOST_SECONDS and memory < MOST_BYTES
                wrong += not held
                shown.append(
                    f"{seconds:.1f} s {memory >> 20} MB{'' if held else f' EXIT {status}, {lines} LINES'}"
                )
            print(f"{kind:>24}: {'; '.join(shown)}", flush=True)
    print(f"{wrong} of {len(KINDS) * len(SIZES)} beyond {MOST_SECONDS:.0f} s, 1 GiB or the contract")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
