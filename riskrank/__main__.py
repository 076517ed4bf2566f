"""The ``riskrank`` command, also as ``python -m riskrank``."""

import sys


def main() -> None:
    """Entry point: Ctrl-C is answered before anything that takes time is imported."""
    from riskrank.cli.interrupts import answer_interrupts

    try:
        answer_interrupts()
        from riskrank.cli.environment import open_standard_streams

        open_standard_streams()
        from riskrank.cli.environment import require_descriptors

        require_descriptors()
        from riskrank.cli.main import run

        run()
    except Exception as error:
        # Before the error boundary is there, as with a damaged installation; Python would exit 1, a gate's.
        _fail(error)


def _fail(error: Exception) -> None:
    import os
    import signal

    told = signal.set_wakeup_fd(-1)
    if told >= 0:
        os.close(told)  # where no more files can be opened, the modules that say so need one
    import contextlib

    what, found, hint = "riskrank cannot start", f"{type(error).__name__}: {error}", "install it anew"
    with contextlib.suppress(ImportError, OSError):
        from riskrank.cli.environment import too_many_open

        what, found, hint = too_many_open(error) or (what, found, hint)
    lines = f"error: {what}\nfound: {' '.join(found.split())[:500]}\nhint: {hint}\n"
    with contextlib.suppress(OSError):
        os.write(2, lines.encode("utf-8", "backslashreplace"))
    os._exit(3)


if __name__ == "__main__":
    if not sys.flags.safe_path:
        # `python -m` looks for modules in the working directory first: a signal.py there would run.
        del sys.path[0]
    main()
