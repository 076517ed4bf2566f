"""riskrank: rankings of models from score tables, with their uncertainty.

``import riskrank as rr`` gives the Python API: :func:`read` loads a table and :func:`rank` ranks its models.
Names are loaded on first use, so the import itself is fast.
"""

from __future__ import annotations

from riskrank.version import __version__ as __version__

# Public names in addition to the functions of the commands.
_API_NAMES = ("GateResult", "Result", "Scores", "__version__", "errors", "read")


def __getattr__(name: str) -> object:
    """Import a name of the Python API on first use."""
    from importlib import import_module

    if name == "errors":
        return import_module("riskrank.errors")
    if name == "__all__":
        return __dir__()
    if name in __dir__():
        return getattr(import_module("riskrank.api"), name)
    words = {
        "rank": "compare compare_models ranking evaluate autorank bootstrap leaderboard friedman nemenyi",
        "dominance": "test tests ttest ttest_rel ttest_ind wilcoxon mannwhitneyu permutation_test mcnemar",
        "read": "load open read_csv read_json read_parquet from_pandas from_csv dataset",
        "report": "create_report html summary",
        "power": "solve_power sample_size ttpower tt_solve_power",
        "rank(scores).plot": "plot plot_stats forest cd_diagram critical_difference visualize figure",
        "gate": "assert_not_worse regression_test noninferiority tost",
    }
    meant = next((ours for ours, theirs in words.items() if name.lower() in theirs.split()), None)
    hint = f": did you mean {meant}?" if meant else f": it has {', '.join(__dir__())}"
    raise AttributeError(f"module 'riskrank' has no attribute '{name}'{hint * (not name.startswith('_'))}")


def __dir__() -> list[str]:
    """Return the names of the Python API, which are imported on first use."""
    from riskrank.options.commands import COMMANDS

    return sorted([*_API_NAMES, *(row.name for row in COMMANDS if row.python)])
