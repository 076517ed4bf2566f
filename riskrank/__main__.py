"""Entry point of the ``riskrank`` command and of ``python -m riskrank``."""

import sys


def main() -> None:
    """Run the command line, with Ctrl-C handled before slow imports."""
    from riskrank.cli.interrupts import handle_interrupts

    try:
        handle_interrupts()
        from riskrank.cli.environment import open_standard_streams

        open_standard_streams()
        from riskrank.cli.main import run

        run()
    except Exception as error:
        # The error boundary is not loaded yet, for instance in a damaged installation. Python itself would
        # exit with 1, the status of a failed gate.
        cause = " ".join(f"{type(error).__name__}: {error}".split())[:500]
        sys.stderr.write(f"error: riskrank cannot start\nfound: {cause}\nhint: reinstall riskrank\n")
        sys.exit(3)


if __name__ == "__main__":
    if not sys.flags.safe_path:
        # `python -m` searches the working directory first, so a signal.py there would be imported.
        del sys.path[0]
    main()
