"""Build the source distribution and from it the wheel, and write what they depend on: ``make dist``.

The same commit gives the same bytes, whenever and wherever it is built: times are those of the commit
(SOURCE_DATE_EPOCH, where it is set), and nothing of the machine is in the files.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# What people install beside it, as far as the lock knows it.
EXTRAS = ("excel", "duckdb", "dask", "plot", "report")


def epoch() -> int:
    """Seconds since 1970 that every file is dated to."""
    if "SOURCE_DATE_EPOCH" in os.environ:
        return int(os.environ["SOURCE_DATE_EPOCH"])
    shown = subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return int(shown.stdout)


def repository() -> str:
    """Where this commit is shown on the web, as a workflow knows it; empty in a clone without an address."""
    names = ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_SHA")
    server, name, commit = (os.environ.get(one, "") for one in names)
    return f"{server}/{name}/blob/{commit}" if server and name and commit else ""


def absolute(text: str, address: str) -> str:
    """Links to files of the repository with its address before them: a registry shows the README alone."""
    if not address:
        return text
    text = re.sub(r"(\]\()(?!\w+:|#|/)(?:\./)?", rf"\g<1>{address}/", text)
    return re.sub(r'(src(?:set)?=")(?!\w+:)', rf"\g<1>{address.replace('/blob/', '/raw/')}/", text)


def settled(path: Path, when: int) -> None:
    """Write a source distribution again: members in order, of one time, one owner and plain modes."""
    with tarfile.open(path) as archive:
        members = sorted(archive.getmembers(), key=lambda member: member.name)
        contents = [archive.extractfile(member).read() if member.isfile() else b"" for member in members]
    for at, member in enumerate(members):
        if member.name.endswith(("/README.md", "/PKG-INFO")):
            contents[at] = absolute(contents[at].decode("utf-8"), repository()).encode("utf-8")
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
    # Another version of the builder writes its name into the wheel, if nothing else.
    os.environ["PIP_CONSTRAINT"] = str(ROOT / ".ci" / "builder.txt")
    run = [sys.executable, "-m", "build", "--outdir", str(folder)]
    subprocess.run([*run, "--sdist", str(source)], check=True, stdout=subprocess.DEVNULL)
    (sdist,) = folder.glob("riskrank-*.tar.gz")
    settled(sdist, when)
    unpacked = folder / "unpacked"
    with tarfile.open(sdist) as archive:
        archive.extractall(unpacked, filter="data")
    (inside,) = unpacked.iterdir()
    # This wheel is one for every platform; those with the compiled kernel are built elsewhere.
    pure = os.environ | {"RISKRANK_PURE": "1"}
    subprocess.run([*run, "--wheel", str(inside)], env=pure, check=True, stdout=subprocess.DEVNULL)
    for path in sorted(unpacked.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
    unpacked.rmdir()
    (wheel,) = folder.glob("riskrank-*.whl")
    return [sdist, wheel]


def bill_of_materials(folder: Path, version: str) -> Path:
    """Write what the wheel needs to run, in the locked versions, with licences and hashes, as CycloneDX."""
    place = folder / "riskrank.cdx.json"
    lock, project = ROOT / ".ci" / "lock.txt", ROOT / "pyproject.toml"
    tools = Path(sys.executable).parent
    with tempfile.TemporaryDirectory() as name:
        needed, environment = Path(name) / "needed.txt", Path(name) / "environment"
        extras = [part for extra in EXTRAS for part in ("--extra", extra)]
        uv = [str(tools / "uv"), "--quiet"]
        compile_ = [*uv, "pip", "compile", str(project), *extras, "--constraint", str(lock)]
        subprocess.run([*compile_, "--generate-hashes", "--output-file", str(needed)], check=True)
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
        python = environment / ("Scripts" if os.name == "nt" else "bin") / "python"
        install = [*uv, "pip", "install", "--python", str(python), "--require-hashes"]
        subprocess.run([*install, "--requirement", str(needed)], check=True)
        command = [str(tools / "cyclonedx-py"), "environment", str(python), "--pyproject", str(project)]
        command += ["--output-reproducible", "--output-format", "JSON", "--output-file", str(place)]
        subprocess.run(command, check=True)
        hashes = hashes_of(needed.read_text(encoding="utf-8"))
    bill = json.loads(place.read_text(encoding="utf-8"))
    # The version is that of the package, which the project's file does not hold.
    bill["metadata"]["component"] |= {"version": version, "purl": f"pkg:pypi/riskrank@{version}"}
    for component in bill["components"]:
        found = hashes[component["name"].lower().replace("_", "-")]
        url = f"https://pypi.org/project/{component['name']}/{component['version']}/"
        reference = {"type": "distribution", "url": url, "hashes": found}
        component["externalReferences"] = [*component.get("externalReferences", ()), reference]
    place.write_text(json.dumps(bill, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    return place


def recipe(folder: Path, version: str, sdist: Path) -> Path:
    """Write what conda-forge builds a package from: the source on PyPI by its hash, and what it needs."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    python = project["requires-python"]
    needed = [
        f"python {python}",
        *(re.sub(r"(?=[<>=])", " ", one, count=1) for one in project["dependencies"]),
    ]
    hashed = hashlib.sha256(sdist.read_bytes()).hexdigest()
    place = folder / "recipe.yaml"
    lines = [
        "schema_version: 1",
        f"package: {{name: riskrank, version: '{version}'}}",
        "source:",
        f"  url: https://pypi.org/packages/source/r/riskrank/{sdist.name}",
        f"  sha256: {hashed}",
        "build:",
        "  number: 0",
        "  noarch: python",
        "  script: python -m pip install . --no-deps --no-build-isolation",
        f"  python: {{entry_points: ['riskrank = {project['scripts']['riskrank']}']}}",
        "requirements:",
        "  host: [python 3.11.*, pip, 'setuptools >=77']",
        "  run:",
        *(f"    - '{one}'" for one in needed),
        "tests:",
        "  - python: {imports: [riskrank], pip_check: true}",
        "  - script: [riskrank --version]",
        "about:",
        f"  license: {project['license']}",
        "  license_file: LICENSE",
        f"  summary: '{project['description']}'",
    ]
    place.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return place


def hashes_of(requirements: str) -> dict[str, list[dict[str, str]]]:
    """Hashes of each package's files, by its name."""
    found = {}
    for line in requirements.replace("\\\n", " ").splitlines():
        name, pinned, rest = line.partition("==")
        if pinned:
            contents = [
                part.removeprefix("--hash=sha256:") for part in rest.split() if part.startswith("--hash")
            ]
            found[name.strip()] = [{"alg": "SHA-256", "content": content} for content in contents]
    return found


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "dist").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    for old in (*folder.glob("riskrank-*"), *folder.glob("*.cdx.json")):
        old.unlink()
    built = build(ROOT, folder)
    version = built[1].name.split("-")[1]
    for path in (*built, bill_of_materials(folder, version), recipe(folder, version, built[0])):
        print(hashlib.sha256(path.read_bytes()).hexdigest(), path.name)


if __name__ == "__main__":
    main()
