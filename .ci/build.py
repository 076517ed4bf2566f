"""Build the source distribution and from it the wheel, and write what they depend on: ``make dist``.

The same commit gives the same bytes, whenever and wherever it is built: times are those of the commit
(SOURCE_DATE_EPOCH, where it is set), and nothing of the machine is in the files.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import subprocess
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def epoch() -> int:
    """Seconds since 1970 that every file is dated to."""
    if "SOURCE_DATE_EPOCH" in os.environ:
        return int(os.environ["SOURCE_DATE_EPOCH"])
    shown = subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return int(shown.stdout)


def settled(path: Path, when: int) -> None:
    """Write a source distribution again: members in order, of one time, one owner and plain modes."""
    with tarfile.open(path) as archive:
        members = sorted(archive.getmembers(), key=lambda member: member.name)
        contents = [archive.extractfile(member).read() if member.isfile() else b"" for member in members]
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for member, content in zip(members, contents, strict=True):
            plain = tarfile.TarInfo(member.name)
            plain.type, plain.size, plain.mtime = member.type, len(content), when
            plain.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            archive.addfile(plain, io.BytesIO(content))
    with path.open("wb") as file, gzip.GzipFile("", "wb", fileobj=file, mtime=when) as packed:
        packed.write(raw.getvalue())


def build(source: Path, folder: Path) -> list[Path]:
    """Build both from a folder of sources; returns their paths."""
    when = epoch()
    os.environ["SOURCE_DATE_EPOCH"] = str(when)
    os.umask(0o022)
    run = [sys.executable, "-m", "build", "--outdir", str(folder)]
    subprocess.run([*run, "--sdist", str(source)], check=True, stdout=subprocess.DEVNULL)
    (sdist,) = folder.glob("riskrank-*.tar.gz")
    settled(sdist, when)
    unpacked = folder / "unpacked"
    with tarfile.open(sdist) as archive:
        archive.extractall(unpacked, filter="data")
    (inside,) = unpacked.iterdir()
    subprocess.run([*run, "--wheel", str(inside)], check=True, stdout=subprocess.DEVNULL)
    for path in sorted(unpacked.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
    unpacked.rmdir()
    (wheel,) = folder.glob("riskrank-*.whl")
    return [sdist, wheel]


def bill_of_materials(folder: Path) -> Path:
    """Write what the locked packages are, as CycloneDX."""
    place = folder / "riskrank.cdx.json"
    tool = Path(sys.executable).with_name("cyclonedx-py")
    lock = ROOT / ".ci" / "lock.txt"
    command = [str(tool), "requirements", str(lock), "--pyproject", str(ROOT / "pyproject.toml")]
    command += ["--output-reproducible", "--output-format", "JSON", "--output-file", str(place)]
    subprocess.run(command, check=True)
    return place


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "dist").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    for old in (*folder.glob("riskrank-*"), *folder.glob("*.cdx.json")):
        old.unlink()
    for path in (*build(ROOT, folder), bill_of_materials(folder)):
        print(hashlib.sha256(path.read_bytes()).hexdigest(), path.name)


if __name__ == "__main__":
    main()
