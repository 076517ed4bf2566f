"""Look every locked package up among known holes: ``make audit``.

Fails if one of them has a hole that is known. Where no database answers nothing is known, and that is said.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

LOCK = Path(__file__).with_name("lock.txt")
SERVICES = ("pypi", "osv")


def answers(service: str) -> list[dict]:
    """What a database says of each package; nothing where it does not answer."""
    options = ["--requirement", str(LOCK), "--require-hashes", "--disable-pip", "--progress-spinner", "off"]
    options += ["--format", "json", "--vulnerability-service", service]
    done = subprocess.run(
        [sys.executable, "-m", "pip_audit", *options], capture_output=True, text=True, check=False
    )
    try:
        return json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        return []


def judged(packages: list[dict]) -> tuple[int, list[str]]:
    """Exit status and the lines to print for the answers of a database."""
    known = [one for one in packages if "vulns" in one]
    lines = [
        f"{one['name']} {one['version']}: {hole['id']}, mended in {', '.join(hole['fix_versions']) or 'none'}"
        for one in known
        for hole in one["vulns"]
    ]
    if not known:
        return 0, ["Skipped: no database of known holes answers from here."]
    unknown = [one["name"] for one in packages if "vulns" not in one]
    lines += [f"Not known there: {', '.join(unknown)}"] if unknown else []
    holes = sum(len(one["vulns"]) for one in known)
    return int(holes > 0), [*lines, f"{holes} known holes in {len(known)} locked packages."]


def main() -> int:
    """Ask one database after another until one knows some package."""
    for service in SERVICES:
        packages = answers(service)
        if any("vulns" in one for one in packages):
            break
    status, lines = judged(packages)
    skipped = not any("vulns" in one for one in packages)
    if (
        skipped and os.environ.get("GITHUB_ACTIONS") == "true"
    ):  # a skipped audit looks like one that found nothing
        lines[0] = f"::warning title=audit::{lines[0]}"
    print("\n".join(lines))
    return status


if __name__ == "__main__":
    sys.exit(main())
