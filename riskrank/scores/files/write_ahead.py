"""SQLite files with a write-ahead log, read without leaving one beside them.

Whoever opens such a file as it is makes ``-wal`` and ``-shm`` beside it, also to read only.
"""

from pathlib import Path

# Bytes 18 and 19 of the header: the file is written and read by way of a log.
_VERSIONS, _LOGGED = slice(18, 20), b"\x02\x02"


def quiet_address(path: Path) -> tuple[str, tuple[str, ...]]:
    """Address under which a file is read and nothing is written, and what to set first.

    What is in the log and not yet in the file counts. Where somebody is connected, log and index are there
    and shared with them; where nobody is, the index is held in memory, or there is nothing to hold.
    """
    address = f"{path.as_uri()}?mode=ro"
    log, index = (path.with_name(f"{path.name}-{kind}") for kind in ("wal", "shm"))
    if log.exists():  # whatever the header says: a log may mend it
        if index.exists():
            return address, ()
        if log.stat().st_size:
            return f"{address}&vfs=unix-none", ("locking_mode = EXCLUSIVE",)
        return f"{address}&immutable=1", ()
    with path.open("rb") as file:
        logged = file.read(20)[_VERSIONS] == _LOGGED
    return (f"{address}&immutable=1" if logged else address), ()
