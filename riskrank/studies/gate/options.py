"""Options of the ``gate`` command."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from riskrank.errors import UsageError, option
from riskrank.options.baseline import BASELINE, parse_margins, parse_thresholds
from riskrank.options.inference import CORRECTIONS, FamilySettings, SuiteSettings, parse_tiers
from riskrank.options.option import ByName, param, rare, several
from riskrank.options.values import contradict, to_names

# Default number of cases in a comment.
_COMMENT_CASES = 10
# Words in names of files with the scores of old models.
_OLD_WORDS = {"old", "base", "baseline", "main", "master", "reference", "ref", "before"}
_OLD_WORDS |= {"control", "previous"}


def add_default_claim(
    scores: Sequence[str], options: Mapping[str, Any]
) -> tuple[list[str], dict[str, Any], str]:
    """Add the claim that the new model is not worse, if two files, or one file and a baseline, are given.

    Two files and a number need no such claim: each model is compared with the number.

    Parameters
    ----------
    scores : sequence of str
        Inputs. Of two files, the second one is new, unless only its name has a word such as "baseline".
    options : mapping of str to object
        A baseline without the suffix ``.parquet`` is a file of scores instead of a blessed one.

    Returns
    -------
    scores : list of str
        Inputs with the names of the models.
    options : dict of str to object
        Options with the claim.
    claim : str
        Pair of models of the added claim, or an empty string if no claim was added.
    """
    changed, files = dict(options), [*scores]
    claims = [name for name in ("better", "not_worse", "cheapest", "new", "old") if changed.get(name)]
    baseline, has_levels = changed.get("baseline"), changed.get("at_least") or changed.get("at_most")
    if baseline is not None and not claims and len(files) == 1:
        files = [files[0] if "=" in files[0] else f"new={files[0]}"]
        pair = f"{files[0].partition('=')[0]}:{BASELINE}"
    elif len(files) == 2 and not (baseline or claims or "-" in files or has_levels):
        if _names_old_model(files[1]) and not _names_old_model(files[0]):
            files.reverse()
        names = [PurePath(file).stem for file in files]
        if len({*names}) < 2 or not all(re.fullmatch(r"[\w.-]+", name) for name in names):
            names = ["old", "new"]
        files = [file if "=" in file else f"{name}={file}" for name, file in zip(names, files, strict=True)]
        pair = ":".join(file.partition("=")[0] for file in reversed(files))
    else:
        pair = ""
    claimed = pair or BASELINE in f"{changed.get('better')} {changed.get('not_worse')}"
    if claimed and baseline is not None and not str(baseline).endswith(".parquet"):
        files, changed["baseline"] = [*files, f"{BASELINE}={baseline}"], None
    return files, changed | ({"not_worse": (pair,)} if pair else {}), pair


def _names_old_model(file: str) -> bool:
    """Return True if the name of a file contains a word for an old model, such as "baseline"."""
    return bool(_OLD_WORDS & {*re.split(r"[\W_]+", PurePath(file.partition("=")[0]).stem.casefold())})


@dataclass(frozen=True, kw_only=True)
class DecisionSettings(FamilySettings):
    """Options for testing a family of claims."""

    correction: str = rare("Correction for testing several claims.", "holm", choices=CORRECTIONS)
    inconclusive: str | None = param(
        "Outcome of an undecided claim.", choices=("pass", "fail"), unset="inconclusive, with exit status 4"
    )


@dataclass(frozen=True, kw_only=True)
class ClaimSettings(SuiteSettings, DecisionSettings):
    """Options that define claims about pairs of models, and how to test them."""

    better: tuple[str, ...] = several(
        "Test the claim that NEW is better than OLD.", metavar="NEW:OLD", accepts_true=True
    )
    not_worse: tuple[str, ...] = several(
        "Test the claim that NEW is not worse than OLD.", metavar="NEW:OLD", accepts_true=True
    )
    new: tuple[str, ...] = several(
        f"The new model; use it with {option('old')} and {option('better', True)}, "
        f"{option('not_worse', True)} or both. The default claim is {option('not_worse', True)}.",
        cli_equivalent="not_worse",
    )
    old: str | None = param(
        f"The old model, which {option('new')} is compared with.", cli_equivalent="not_worse"
    )
    on: tuple[str, ...] = several(
        "Statistic to compare: mean, median, p95, geomean, share>=4, tvar@0.05 or cvar@0.05 (mean of the "
        "worst 5 %), sum(A)/sum(B), fsd, ssd, pass^3 (all of 3 runs pass), pass@3 (at least one passes); "
        "for task suites also macro (mean over tasks) and task (each task). mean:NAME or NAME selects one "
        "metric.",
        metavar="STATISTIC",
        unset="mean",
    )
    margin: ByName = several(
        "Largest loss that still counts as not worse, or smallest gain that counts as better: in the units "
        "of the metric, or in percent of the old value (2%). 0% compares ratios.",
        metavar="[METRIC=]VALUE[%]",
        unset="0",
    )
    at_least: ByName = several(
        "Test the claim that a model's statistic is at least this number, in the units of the metric.",
        metavar="[METRIC=]VALUE",
    )
    at_most: ByName = rare(
        "Test the claim that a model's statistic is at most this number.", (), metavar="[METRIC=]VALUE"
    )
    min_samples: int | None = rare(
        "Smallest number of independent samples; with fewer, claims are inconclusive.", metavar="N", least=1
    )
    must_pass: str | None = rare(
        "Fail if the new model fails on any of these samples that the old model passed (scores 0 and 1).",
        metavar="COLUMN=VALUE|FILE",
    )
    tier: tuple[str, ...] = rare(
        "Tier of the claims about a metric or statistic: critical claims must pass (the default), supporting "
        "claims are tested only if those pass, advisory claims cannot fail the gate.",
        (),
        metavar="TIER=CLAIM,...",
    )
    cheapest: str | None = rare(
        "Choose the cheapest model that is demonstrably not worse than REFERENCE. If there is none, choose "
        "REFERENCE.",
        metavar="REFERENCE",
        needs="price",
        against=("better", "not_worse", "anytime", "baseline", "tier"),
    )
    price: str | None = rare(
        f"With {option('cheapest')}: file with the price of each model, or metric of measured costs.",
        metavar="FILE|METRIC",
        example="prices.csv",
        needs="cheapest",
    )
    most_failed: float = rare(
        "Fail the gate if the share of missing scores is higher for the new model than for the old one by "
        "this much or more.",
        0.05,
        metavar="SHARE",
        least=0,
        below=1,
    )
    baseline: str | None = rare(
        f"File saved by {option('bless')}. Its model is compared under the name {BASELINE}.", metavar="FILE"
    )
    anytime: bool = rare(
        "Use tests that stay valid if you repeat the gate while samples arrive, and stop at any time. Scores "
        "must be paired and bounded.",
        False,
    )
    largest_cluster: int | None = rare(
        f"With {option('anytime', True)}: the largest number of samples that a cluster can ever contain.",
        metavar="N",
        least=1,
        needs="anytime",
    )
    continues: str | None = rare(
        f"With {option('anytime', True)}: JSON output of an earlier look. The table must still contain all "
        "of its samples, unchanged.",
        metavar="FILE",
        needs="anytime",
    )
    cases: int | None = rare(
        "Number of cases to list, largest losses first, for each claim about a mean that did not pass.",
        metavar="N",
        least=0,
        unset=f"none; 10 for claims on all samples with {option('comment', True)}",
    )
    comment: bool = rare(
        "Mark the Markdown output, so that the next run can replace it as a comment on a pull request.",
        False,
        affects_result=False,
        panel="Output",
    )

    def __post_init__(self) -> None:
        """Parse claims, margins, thresholds and tiers, and raise UsageError if any is invalid."""
        self._pair_models()
        super().__post_init__()
        parse_tiers(self.tier)
        for name in ("better", "not_worse", "on"):
            self._normalise(name, tuple(dict.fromkeys(getattr(self, name))))
        self._normalise("margin", parse_margins(self.margin))
        for name in ("at_least", "at_most"):
            self._normalise(name, parse_thresholds(name, getattr(self, name)))
        pairs, numbers = self.better or self.not_worse, self.at_least or self.at_most
        if not (self.cheapest or pairs or numbers):
            raise UsageError(
                "a gate needs a claim",
                found=f"neither {option('better')} nor {option('not_worse')} nor {option('at_least')}",
                hint=f"write {option('not_worse', f'NEW:{BASELINE}')} with one of the models"
                if self.baseline
                else f"write {option('not_worse', 'NEW:OLD')} with two of the models",
            )
        pairs = (*self.better, *self.not_worse)
        if self.margin and numbers and not pairs:
            number = option("at_least" if self.at_least else "at_most")
            hint = f"a margin compares two models: leave it out, or add {option('not_worse', 'NEW:OLD')}"
            contradict(option("margin"), number, hint)
        if self.baseline is not None and not any(BASELINE in pair.split(":") for pair in pairs):
            problem = f"{option('baseline', self.baseline)} appears in no claim"
            hint = f"name its model in a claim: {option('not_worse', f'NEW:{BASELINE}')}"
            raise UsageError(problem, found=f"claims about {' and '.join(pairs)}", hint=hint)

    @property
    def listed_cases(self) -> int:
        """Number of cases to list, which is 0 by default, or 10 in a pull-request comment."""
        return (_COMMENT_CASES if self.comment else 0) if self.cases is None else self.cases

    @property
    def needs(self) -> dict[str, Any]:
        """Requirements that the claims impose on reading the table, by name, such as ``min_models``."""
        return {
            "texts": self.listed_cases > 0,
            "grows": self.anytime,
            "statistics": self.on,
            "compared": (*self.better, *self.not_worse),
            "must_pass": self.must_pass,
            "min_models": 2 if self.better or self.not_worse or self.cheapest else 1,
        }

    def _pair_models(self) -> None:
        """Replace the options ``new`` and ``old`` by the equivalent claims about pairs of models.

        Raises
        ------
        UsageError
            If only one of the two options is given, or a claim already names its models.
        """
        claims: dict[str, Any] = {name: getattr(self, name) for name in ("better", "not_worse")}
        true = [name for name, value in claims.items() if value is True]
        new = to_names(self.new)
        if new and self.old is None and self.baseline is not None:
            self._normalise("old", BASELINE)
        if bool(new) != (self.old is not None) or (true and not new):
            raise UsageError(
                f"{option(true[0], True)} needs {option('new')} and {option('old')}"
                if true
                else f"{option('new')} and {option('old')} must be given together",
                found="neither of them" if not new and self.old is None else "one of them",
                hint=f'write new="NEW", old="OLD", or {option((true or ["not_worse"])[0], "NEW:OLD")}',
            )
        named = [name for name, value in claims.items() if not isinstance(value, bool) and value]
        if new and named:
            problem = f"{option(named[0])} already names its models"
            hint = f"write {option(named[0], True)}, or leave out {option('new')} and {option('old')}"
            raise UsageError(problem, found=f"also {option('new')} and {option('old')}", hint=hint)
        pairs = tuple(f"{model}:{self.old}" for model in new)
        for name, value in claims.items():
            selected = name in true or (new and not true and name == "not_worse")
            self._normalise(name, pairs if selected else () if isinstance(value, bool) else value)
        self._normalise("new", ())
        self._normalise("old", None)
