"""Measure CPU time and memory to refuse hostile files of growing size, 10³ to 10⁶ repetitions of a construct.

The time to refuse a file must grow at most linearly with its size. Times are CPU seconds, which do not depend
on other processes. Memory is the peak of the command, which includes what this process had at its start.
"""

import io
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SIZES = (1_000, 10_000, 100_000, 1_000_000)
MOST_SECONDS, MOST_BYTES = 5.0, 1 << 30
SHEET = "xl/worksheets/sheet1.xml"


def _names(n: int) -> list[str]:
    return [f"c{at}" for at in range(n)]


def _workbook(more: str, part: str = SHEET, end: str = "</sheetData>") -> bytes:
    """Return a workbook with one sheet, and insert XML before an end tag in one of its parts."""
    import openpyxl

    original, changed = io.BytesIO(), io.BytesIO()
    openpyxl.Workbook().save(original)
    with zipfile.ZipFile(original) as source, zipfile.ZipFile(changed, "w", zipfile.ZIP_DEFLATED) as file:
        for name in source.namelist():
            text = source.read(name).decode()
            if name == part:
                text = re.sub("<sheetData ?/>", "<sheetData></sheetData>", text).replace(end, more + end)
            file.writestr(name, text)
    return changed.getvalue()


def _packed(n: int) -> bytes:
    """Return an Inspect log whose only member repeats a single letter."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file, file.open("header.json", "w") as member:
        for _ in range(n // 1_000):
            member.write(b"x" * 1_500_000)
    return buffer.getvalue()


def _view(n: int) -> bytes:
    """Return a database with one large value, which is computed by a view."""
    with closing(sqlite3.connect(":memory:")) as connection:
        columns = f"zeroblob({900 * n}) AS model, 1 AS sample, 'acc' AS metric, 1 AS score"
        connection.execute(f"CREATE VIEW scores AS SELECT {columns}")
        connection.commit()
        return bytes(connection.serialize())


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
    "sheets of a workbook": ("xlsx", lambda n: _workbook("<sheet/>" * n, "xl/workbook.xml", "</sheets>")),
    "formats of cells": ("xlsx", lambda n: _workbook("<xf/>" * n, "xl/styles.xml", "</cellXfs>")),
    "a dense archive": ("eval", _packed),
    "a value of a view": ("sqlite", _view),
    "dots of a name": ("toml", lambda n: f"a{'.a' * n} = 1"),
    "tables of TOML": ("toml", lambda n: "".join(f"[{name}]\n" for name in _names(n))),
    "dotted names": ("toml", lambda n: "".join(f"a.{name}.c = 1\n" for name in _names(n))),
}


def refused(path: Path) -> tuple[float, int, int, int]:
    """Return CPU seconds, bytes of memory, exit status and lines of ``rank``."""
    words = [str(ROOT / "sample_data/uci.csv"), "--metrics-file"] if path.suffix == ".toml" else []
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "riskrank", "rank", *words, str(path)],
            stdout=subprocess.DEVNULL,
            stderr=errors,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
        )
        _, status, used = os.wait4(process.pid, 0)
        errors.seek(0)
        lines = len(errors.read().splitlines())
    process.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, process.returncode, lines


def main() -> int:
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for kind, (suffix, make) in KINDS.items():
            cells = []
            for size in SIZES:
                content = make(size)
                path = Path(folder, f"t.{suffix}")
                path.write_bytes(content.encode() if isinstance(content, str) else content)
                seconds, memory, status, lines = refused(path)
                passed = status == 2 and lines == 3 and seconds < MOST_SECONDS and memory < MOST_BYTES
                wrong += not passed
                cells.append(
                    f"{seconds:.1f} s {memory >> 20} MB{'' if passed else f' EXIT {status}, {lines} LINES'}"
                )
            print(f"{kind:>24}: {'; '.join(cells)}", flush=True)
    print(f"{wrong} of {len(KINDS) * len(SIZES)} beyond {MOST_SECONDS:.0f} s, 1 GiB or the contract")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
