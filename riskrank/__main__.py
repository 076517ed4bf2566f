"""The ``riskrank`` command, also as ``python -m riskrank``."""

from riskrank.cli.interrupts import answer_interrupts, leave


def main() -> None:
    """Entry point: Ctrl-C is answered before anything that takes time is imported."""
    try:
        answer_interrupts()
        from riskrank.cli.main import run

        run()
    except KeyboardInterrupt:
        leave()


if __name__ == "__main__":
    main()
