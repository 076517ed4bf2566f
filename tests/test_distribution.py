"""Distributed files: reproducible builds that work when installed alone."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = (
    "riskrank",
    "docs",
    "sample_data",
    "pyproject.toml",
    "setup.py",
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
    "SECURITY.md",
    "MANIFEST.in",
)


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_package_of_the_lock_has_hashes():
    packages = [line for line in (ROOT / ".ci" / "lock.txt").read_text().splitlines() if "==" in line]
    text = (ROOT / ".ci" / "lock.txt").read_text().replace("\\\n", " ")
    pinned = [line for line in text.splitlines() if "==" in line and not line.startswith("#")]
    assert len(pinned) == len(packages) > 20
    assert all("--hash=sha256:" in line for line in pinned)
    for name in ("numpy", "polars", "scipy", "typer", "rich", "highspy", "zstandard", "pytest"):
        assert any(line.startswith(f"{name}==") for line in pinned)


@pytest.mark.slow
def test_the_manual_is_that_of_the_commands():
    manual = load(ROOT / "tests" / "manual.py")
    for place, text in manual.files().items():
        assert place.read_text(encoding="utf-8") == text, "run make manual"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Build both files from two copies of the sources with different dates and permissions."""
    pytest.importorskip("build")
    build = load(ROOT / ".ci" / "build.py")
    builds = []
    for number in range(2):
        copy, folder = tmp_path_factory.mktemp(f"source{number}"), tmp_path_factory.mktemp(f"dist{number}")
        for name in SOURCES:
            source = ROOT / name
            if source.is_dir():
                ignored = shutil.ignore_patterns("__pycache__", "*.pyc", "*.so")
                shutil.copytree(source, copy / name, ignore=ignored)
            else:
                shutil.copy(source, copy / name)
        for path in copy.rglob("*"):
            os.utime(path, (10**9 + number * 10**7, 10**9 + number * 10**7))
            path.chmod(path.stat().st_mode | (0o020 if number else 0))
        os.environ["SOURCE_DATE_EPOCH"] = "1700000000"
        try:
            builds.append(build.build(copy, folder))
        except subprocess.CalledProcessError:
            pytest.skip("setuptools cannot be had")
        finally:
            del os.environ["SOURCE_DATE_EPOCH"]
    return builds


@pytest.mark.slow
def test_the_same_sources_give_the_same_bytes(built):
    for first, second in zip(*built, strict=True):
        assert first.name == second.name
        assert first.read_bytes() == second.read_bytes()


@pytest.mark.slow
def test_archives_contain_the_package(built):
    sdist, wheel = built[0]
    with tarfile.open(sdist) as archive:
        sources = {name.partition("/")[2] for name in archive.getnames()}
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    code = {str(path.relative_to(ROOT)) for path in (ROOT / "riskrank").rglob("*.py")}
    templates = {str(path.relative_to(ROOT)) for path in (ROOT / "riskrank").rglob("templates/*")}
    for inside in (sources, names):
        assert code <= inside
        assert {*templates, "riskrank/py.typed", "riskrank/scores/names/vocabularies.txt"} <= inside
        assert not any(name.startswith(("tests", "build")) for name in inside)
    assert {"LICENSE", "README.md", "pyproject.toml", "SECURITY.md", "CHANGELOG.md"} <= sources
    assert {"setup.py", "riskrank/engine/_kernel.c"} <= sources
    assert wheel.name.endswith("-py3-none-any.whl")
    share = {name.partition(".data/data/")[2] for name in names if ".data/data/" in name}
    assert {
        "share/man/man1/riskrank.1",
        "share/bash-completion/completions/riskrank.bash",
        "share/zsh/site-functions/_riskrank",
        "share/fish/vendor_completions.d/riskrank.fish",
    } <= share
    # What `riskrank examples` writes: all of the sample data but what made it.
    data = {str(path.relative_to(ROOT)) for path in (ROOT / "sample_data").rglob("*") if path.is_file()}
    data = {name for name in data if not name.endswith((".py", ".pyc"))}
    assert {f"share/riskrank/{name}" for name in data} == {name for name in share if "sample_data" in name}
    assert data <= sources


@pytest.mark.slow
def test_the_wheel_works_in_an_empty_environment(built, tmp_path):
    try_dist = load(ROOT / ".ci" / "try_dist.py")
    try:
        trial = try_dist.Trial(sys.executable, built[0][1], "", tmp_path)
    except SystemExit as failed:
        pytest.skip(f"nothing can be installed here: {str(failed)[-300:]}")
    assert len(trial.use()) == 64
    assert (trial.folder / "sample_data" / "suite" / "forest" / "iris.csv").is_file()
    # A page is refused in three lines, whose last one names what to install: that is all it takes.
    assert trial.without_report() > 100_000
    code = "import riskrank, pathlib; print(pathlib.Path(riskrank.__file__).with_name('py.typed').is_file())"
    assert trial.run("python", "-c", code).stdout == "True\n"
    assert (trial.place / "share" / "man" / "man1" / "riskrank.1").is_file()


def test_readme_links_become_absolute(monkeypatch):
    build, readme = load(ROOT / ".ci" / "build.py"), (ROOT / "README.md").read_text(encoding="utf-8")
    for name in ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_SHA"):
        monkeypatch.delenv(name, raising=False)
    assert build.absolute(readme, build.repository()) == readme
    monkeypatch.setenv("GITHUB_SERVER_URL", "https://example.org")
    monkeypatch.setenv("GITHUB_REPOSITORY", "somebody/riskrank")
    monkeypatch.setenv("GITHUB_SHA", "0123")
    text = build.absolute(readme, build.repository())
    assert set(re.findall(r'src(?:set)?="(https://example.org/somebody/riskrank/raw/0123/)?', text)) - {""}
    assert 'src="docs' not in text
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert len(links) > 20
    assert [link for link in links if not link.startswith(("https://", "#"))] == []
    assert "https://example.org/somebody/riskrank/blob/0123/docs/gate.md" in links


def test_recipe_lists_the_dependencies(tmp_path):
    """Each requirement occurs once, with its bounds, and the source has its hash."""
    yaml, build = pytest.importorskip("yaml"), load(ROOT / ".ci" / "build.py")
    source = tmp_path / "riskrank-0.1.0.tar.gz"
    source.write_bytes(b"abc")
    recipe = yaml.safe_load(build.recipe(tmp_path, "0.1.0", source).read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    run = [requirement.replace(" ", "") for requirement in recipe["requirements"]["run"]]
    assert run == ["python" + project["requires-python"], *project["dependencies"]]
    assert recipe["source"]["sha256"] == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert recipe["source"]["url"].endswith("/riskrank/riskrank-0.1.0.tar.gz")
    assert recipe["build"]["python"]["entry_points"] == ["riskrank = riskrank.__main__:main"]


def test_hashes_are_those_of_the_requirements():
    build = load(ROOT / ".ci" / "build.py")
    text = "# a note\na-b==1.0 ; python_version >= '3.11' \\\n    --hash=sha256:12 \\\n"
    text += "    --hash=sha256:34\nc==2 --hash=sha256:5\n"
    assert build.hashes_of(text) == {
        "a-b": [{"alg": "SHA-256", "content": "12"}, {"alg": "SHA-256", "content": "34"}],
        "c": [{"alg": "SHA-256", "content": "5"}],
    }


@pytest.mark.slow
def test_bill_of_materials_lists_the_runtime_packages(tmp_path):
    """Versions are those of the lock, with licences and hashes, without test or local packages."""
    build = load(ROOT / ".ci" / "build.py")
    tools = Path(sys.executable).parent
    if not all((tools / name).exists() for name in ("uv", "cyclonedx-py")):
        pytest.skip("make dist installs what is needed")
    text = build.bill_of_materials(tmp_path, "1.2.3").read_text()
    bill = json.loads(text)
    assert (bill["bomFormat"], bill["metadata"]["component"]["version"]) == ("CycloneDX", "1.2.3")
    lock = (ROOT / ".ci" / "lock.txt").read_text()
    components = {component["name"].lower(): component for component in bill["components"]}
    assert {"numpy", "polars", "scipy", "typer", "highspy", "rich", "zstandard", "matplotlib"} <= set(
        components
    )
    assert not {"pytest", "mypy", "ruff", "pip", "setuptools"} & set(components)
    for name, component in components.items():
        assert f"{name.replace('_', '-')}=={component['version']}" in lock
        (reference,) = (entry for entry in component["externalReferences"] if "hashes" in entry)
        assert reference["hashes"]
    assert sum("licenses" in component for component in components.values()) >= 0.9 * len(components)
    root = next(
        entry for entry in bill["dependencies"] if entry["ref"] == bill["metadata"]["component"]["bom-ref"]
    )
    assert len(root["dependsOn"]) >= 7
    assert str(ROOT) not in text
    assert str(tmp_path) not in text


def test_ci_tests_and_audits_the_locked_packages():
    run = (ROOT / ".ci" / "run").read_text().splitlines()
    assert run.index("make test") < run.index("make lint") < run.index(".ci/test-locked")
    assert "make audit" in run


def test_audit_fails_for_a_listed_vulnerability():
    sound = {"name": "a", "version": "1", "vulns": []}
    hole = {"name": "b", "version": "2", "vulns": [{"id": "PYSEC-1", "fix_versions": ["2.1"]}]}
    away = {"name": "c", "skip_reason": "not found"}
    judged = load(ROOT / ".ci" / "audit.py").judged
    assert judged([sound]) == (0, ["0 known holes in 1 locked packages."])
    assert judged([sound, hole, away]) == (
        1,
        ["b 2: PYSEC-1, mended in 2.1", "Not known there: c", "1 known holes in 2 locked packages."],
    )
    assert judged([away]) == judged([]) == (0, ["Skipped: no database of known holes answers from here."])


def test_audit_without_database_is_an_annotation_in_ci(monkeypatch, capsys):
    audit = load(ROOT / ".ci" / "audit.py")
    monkeypatch.setattr(audit, "answers", lambda _service: [])
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert audit.main() == 0
    assert capsys.readouterr().out.startswith("::warning title=audit::Skipped: no database")
    monkeypatch.delenv("GITHUB_ACTIONS")
    assert audit.main() == 0
    assert capsys.readouterr().out.startswith("Skipped: no database")


def test_version_is_defined_in_a_single_place():
    import riskrank

    version = re.compile(rf"(?<![\d.]){re.escape(riskrank.__version__)}(?![\d.])")
    files = [ROOT / "pyproject.toml", ROOT / "CITATION.cff", *(ROOT / "riskrank").rglob("*.py")]
    assert [path.name for path in files if version.search(path.read_text(encoding="utf-8"))] == ["version.py"]


def test_workflows_pin_actions_and_declare_permissions():
    workflows = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    assert [path.stem for path in workflows] == ["docs", "publish", "tests"]
    for path in (*workflows, ROOT / "action.yml"):
        text = path.read_text(encoding="utf-8")
        used = re.findall(r"uses: (.*)", text)
        assert used
        assert all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v[\d.]+", action) for action in used), path.name
        if path in workflows:
            assert "\npermissions: {}\n" in text
            assert text.count("uses: actions/checkout@") == text.count("persist-credentials: false")
        written = re.findall(r"^ +([\w-]+): write", text, flags=re.MULTILINE)
        allowed = {"docs": ["pages", "id-token"], "publish": ["id-token"]}
        assert written == allowed.get(path.stem, [])


def test_workflows_of_the_guide_pin_their_actions():
    pages = [*(ROOT / "docs").glob("*.md"), ROOT / "README.md"]
    used = [
        action for page in pages for action in re.findall(r"uses: (\S+)", page.read_text(encoding="utf-8"))
    ]
    assert len(used) >= 2
    assert all(re.fullmatch(r"[\w./-]+@([0-9a-f]{40}|COMMIT)", action) for action in used), used


def test_workflows_call_targets_that_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        assert set(re.findall(r"run: make ([a-z-]+)", path.read_text(encoding="utf-8"))) <= targets
