"""Let ``python -m riskrank`` be the command itself."""

from riskrank.cli.main import run

if __name__ == "__main__":
    run()
