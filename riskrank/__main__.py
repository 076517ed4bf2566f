"""The ``riskrank`` command, also as ``python -m riskrank``."""

import sys


def main() -> None:
    """Entry point: Ctrl-C is answered before anything that takes time is imported."""
    from riskrank.cli.interrupts import answer_interrupts

    try:
        answer_interrupts()
        from riskrank.cli.environment import open_standard_streams

        open_standard_streams()
        from riskrank.cli.main import run

        run()
    except Exception as error:
        # Before the error boundary is there, as with a damaged installation; Python would exit 1, a gate's.
        found = " ".join(f"{type(error).__name__}: {error}".split())[:500]
        sys.stderr.write(f"error: riskrank cannot start\nfound: {found}\nhint: install it anew\n")
        sys.exit(3)


if __name__ == "__main__":
    if not sys.flags.safe_path:
        # `python -m` looks for modules in the working directory first: a signal.py there would run.
        del sys.path[0]
    main()
