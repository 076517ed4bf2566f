"""Findings of a study, the verdict built from their sentences, and the limitations of the samples.

Every study creates a list of findings and defines one sentence per kind of finding.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Any, Generic, TypeVar

from riskrank.engine.dominance.ranking import identically_distributed
from riskrank.engine.family import Answer, Family
from riskrank.engine.sampling.design import FEW_SAMPLES, ClusteredScores, size_warnings
from riskrank.errors import listing, option, single_line
from riskrank.scores.layouts.layout import VOTES, warning_kind
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies import metric_means
from riskrank.studies.document import FindingEntry
from riskrank.studies.judge.section import JudgeAnalysis, analyze_judge
from riskrank.studies.suites.section import SuiteAnalysis, other_scope_answer
from riskrank.studies.wording import (
    detection_limit_sentence,
    join_names,
    rarest_detectable,
    round_up,
    split_verdict,
    undetected_share,
)

CaseType = TypeVar("CaseType")


@dataclass(frozen=True)
class Finding:
    """One conclusion about the models, with its supporting numbers and test result.

    Attributes
    ----------
    kind : str
        Kind of the finding, such as ``ahead`` or ``worse-tail``, which selects the sentence.
    models : tuple of int
        Indices of the models in the finding, in the order in which the sentence names them.
    on : str
        Metric, combined score, task or group of the finding, or empty if it concerns all of them.
    figures : mapping of str to float
        Supporting numbers in the units of the file.
    answer : Answer or None
        Result of the test, or None if nothing was tested.
    words : mapping of str to str
        Texts that the template of the sentence inserts.
    """

    kind: str
    models: tuple[int, ...] = ()
    on: str = ""
    figures: Mapping[str, float] = field(default_factory=dict)
    answer: Answer | None = None
    words: Mapping[str, str] = field(default_factory=dict)


# Finding with its sentence.
Remark = tuple[Finding, str]


# Template, or function of a finding and its case for sentences with more than one form. A template inserts
# the finding's models as `{0}`, `{1}`, ..., `{all}` or, without the first one, `{others}`, its column as
# `{on}` or `{label}`, and its words by their names.
Sentence = str | Callable[[Finding, Any], str]


@dataclass(frozen=True)
class Sentences(Generic[CaseType]):
    """Sentences of a command, by kind of finding.

    Attributes
    ----------
    of_kind : mapping of str to Sentence
        Templates or functions, which override :data:`SHARED_SENTENCES`. If a sentence is empty, the finding
        is not part of the verdict.
    aside : collection of str
        Kinds that appear only in the details, because they use terms specific to the command.
    """

    of_kind: Mapping[str, Sentence]
    aside: Collection[str] = ()

    def add_sentences(self, findings: Iterable[Finding], case: CaseType) -> list[Remark]:
        """Return pairs of a finding and its sentence, the most severe finding first.

        `case` has the results that the sentences use.
        """
        pairs = ((finding, self._sentence(finding, case)) for finding in findings)
        return sorted(pairs, key=lambda pair: severity_rank(pair[0].kind))

    def _sentence(self, finding: Finding, case: Any) -> str:
        """Return the sentence of a finding, from a function or a template.

        `case` has the results that the sentence uses.
        """
        rule = self.of_kind.get(finding.kind) or SHARED_SENTENCES[finding.kind]
        if not isinstance(rule, str):
            return rule(finding, case)
        names = [case.models[i] for i in finding.models]
        label = case.column_label(finding.on) if isinstance(case, Case) else ""
        shared = {"on": finding.on, "label": label, "all": join_names(names), "others": join_names(names[1:])}
        return rule.format(*names, **{**shared, **finding.words})

    def fields(
        self,
        findings: Iterable[Finding],
        case: CaseType,
        models: Sequence[str],
        assumption: str = "",
        *,
        limits: Sequence[Remark] = (),
    ) -> dict[str, Any]:
        """Return the parts of a document that are derived from the findings.

        Parameters
        ----------
        findings : iterable of Finding
            Conclusions to be expressed as sentences.
        case : CaseType
            Results that the sentences use.
        models : sequence of str
            Names of the models.
        assumption : str
            Assumption to state at the start of the verdict.
        limits : sequence of (Finding, str)
            Limitations of the samples with their sentences. They appear in captions and warnings, not in
            the verdict.

        Returns
        -------
        dict
            The fields ``verdict``, ``more`` and ``findings`` of a document.
        """
        remarks = self.add_sentences(findings, case)
        (_, first), *tail = ((f.kind, text) for f, text in remarks if f.kind not in self.aside)
        first += f" {tail.pop(0)[1]}" if tail and tail[0][0] == "nothing-tested" else ""
        verdict, more = split_verdict([assumption + first, *(text for _, text in tail)])
        aside = [text for finding, text in remarks if finding.kind in self.aside]
        return {
            "verdict": verdict,
            "more": (*more, *aside),
            "findings": _finding_entries(remarks, limits, models),
        }


def verdict_fields(
    models: Sequence[str], *remarks: Remark, assumption: str = "", limits: Sequence[Remark] = ()
) -> dict[str, Any]:
    """Return the document fields ``verdict`` and ``findings``. The verdict joins all sentences.

    Parameters
    ----------
    models : sequence of str
        Names of the models.
    *remarks : (Finding, str)
        Findings with their sentences.
    assumption : str
        Assumption to state at the start of the verdict.
    limits : sequence of (Finding, str)
        Limitations of the samples, which are stored but not part of the verdict.
    """
    remarks = tuple((finding, single_line(text)) for finding, text in remarks if text)
    verdict = " ".join(text for _, text in remarks)
    if assumption:
        verdict = f"{assumption}{verdict[0].lower()}{verdict[1:]}"
    return {"verdict": verdict, "findings": _finding_entries(remarks, limits, models)}


def _finding_entries(
    remarks: Sequence[Remark], limits: Sequence[Remark], models: Sequence[str]
) -> list[FindingEntry]:
    """Convert findings with their sentences to entries of a document, the most severe first.

    Limits of a kind that is already among the remarks are omitted.
    """
    kinds = {(f.kind, f.on) for f, _ in remarks}
    limits = [(f, text) for f, text in limits if (f.kind, f.on) not in kinds]
    entries = []
    for f, text in sorted([*remarks, *limits], key=lambda pair: severity_rank(pair[0].kind)):
        about, answer = [models[i] for i in f.models], None if f.answer is None else f.answer.word
        entries.append(FindingEntry(f.kind, about, f.on or None, dict(f.figures), answer, text))
    return entries


@dataclass(frozen=True, kw_only=True)
class Case:
    """Results of a command from which findings and sentences are derived. Subclasses add further results.

    Attributes
    ----------
    table : ScoreTable
        Scores of all models, with their samples and metrics.
    columns : mapping of str to ClusteredScores
        Analysed scores by name: metrics and combined scores.
    suite : SuiteAnalysis or None
        Results by task, if the samples belong to several tasks.
    tested : bool
        True if significance tests were run.
    family : Family
        Significance level and correction.
    """

    table: ScoreTable
    columns: Mapping[str, ClusteredScores]
    suite: SuiteAnalysis | None = None
    tested: bool = True
    family: Family = Family()

    @property
    def models(self) -> Sequence[str]:
        """Names of the models."""
        return self.table.models

    @cached_property
    def means(self) -> tuple[metric_means.MetricMeans, ...]:
        """Raw means of every metric."""
        return metric_means.metric_means(self.table)

    @cached_property
    def judged(self) -> JudgeAnalysis | None:
        """Results of a judge calibrated on human labels, or None."""
        return analyze_judge(self.table)

    @property
    def required_suite(self) -> SuiteAnalysis:
        """Results by task. The table must have tasks."""
        assert self.suite is not None
        return self.suite

    @property
    def metrics(self) -> list[str]:
        """Names of the metrics."""
        return [mean.name for mean in self.means]

    @cached_property
    def identical_distributions(self) -> list[Finding]:
        """List with the finding that all models have the same score distribution, or an empty list."""
        if not all(map(identically_distributed, self.columns.values())):
            return []
        on = "" if len(self.columns) > 1 else next(iter(self.columns))
        return [Finding("same-distribution", (*range(len(self.models)),), on=on)]

    @property
    def identical_models(self) -> list[Finding]:
        """Findings about models with identical scores.

        The result is empty if all models have the same distributions.
        """
        return [] if self.identical_distributions else same_score_findings(self.table, self.models)

    @property
    def assumption(self) -> str:
        """Assumption on which all sentences rest, or an empty string if there is none."""
        judge = "" if self.judged is None else self.judged.assumption
        return metric_means.assumption_prefix(metric_means.assumed_costs(self.means), judge)

    @property
    def side_findings(self) -> list[Finding]:
        """Findings that accompany any result: missing tests, identical models, and the gain from a judge."""
        return [*untested_findings(self.tested), *self.identical_models, *judge_findings(self)]

    def mean_of(self, column: str) -> metric_means.MetricMeans | None:
        """Return the means of all models on a metric, or None if the name is not that of a metric."""
        return next((mean for mean in self.means if mean.name == column), None)

    def column_label(self, column: str) -> str:
        """Return the name of a metric or combined score as used in sentences."""
        several = sum(name not in self.metrics for name in self.columns) > 1
        combined = f"the combined score {column}" if several else "the combined score"
        name = column if column in self.metrics else combined
        return name if self.suite is None or len(self.columns) > 1 else f"{name} {self.suite.scope_text}"


NOTHING_TESTED = "Nothing was tested, so the uncertainty is unknown."


def untested_findings(tested: bool) -> list[Finding]:
    """Return a list with the finding that nothing was tested, or an empty list if tests were run."""
    return [] if tested else [Finding("nothing-tested")]


def judge_findings(case: Case) -> list[Finding]:
    """Return a list with the finding about the gain in precision from a judge, or an empty list.

    The list is empty without a judge, or if the gain is negligible.
    """
    gain = case.judged
    return [Finding("judge-gain", figures=gain.figures)] if gain is not None and gain.gain_sentence else []


def vote_findings(table: ScoreTable) -> list[Finding]:
    """Return a list with the finding that votes depend on more than the models, or an empty list.

    An example is a preference for the answer shown first.
    """
    checks = [check for check in table.warnings if warning_kind(check) == VOTES]
    figures = {name: value for check in checks for name, value in getattr(check, "figures", {}).items()}
    return [Finding("votes", figures=figures, words={"checks": "; ".join(checks)})] if checks else []


def same_score_findings(table: ScoreTable, models: Sequence[str]) -> list[Finding]:
    """Return one finding per set of models with identical scores on every sample.

    A common cause is a file that was read under two names.
    """
    groups = dict[bytes, list[int]]()
    for at, model in enumerate(models):
        i = table.index(model)
        scores = table.values[i].tobytes() + table.row_samples[i].tobytes()
        groups.setdefault(sha256(scores).digest(), []).append(at)
    return [Finding("same-scores", tuple(same)) for same in groups.values() if len(same) > 1]


def better_mean_findings(case: Case, column: str, model: int) -> Iterator[Finding]:
    """Yield findings about models with a better mean than the model that comes first.

    Parameters
    ----------
    case : Case
        Results on which the sentences are based.
    column : str
        Metric or combined score by which the models are ranked.
    model : int
        Index of the model that comes first.
    """
    if (mean := case.mean_of(column)) is not None:
        if mean.format_mean(mean.best) != mean.format_mean(model):
            pair = mean.best, model
            words = {"means": f", {mean.format_comparison(*pair)}"}
            yield Finding(
                "best-mean", pair, on=column, figures=metric_means.pair_figures([mean], *pair), words=words
            )
    elif model not in metric_means.worst_everywhere(
        case.means
    ):  # the worst model on every metric has its own sentence
        best = [mean for mean in case.means if mean.format_mean(mean.best) != mean.format_mean(model)]
        parts = [
            f"{case.models[m.best]} has the best mean {m.name}, {m.format_comparison(m.best, model)}"
            for m in best
        ]
        more = f"; other models are best on {len(parts) - 2} more" if len(parts) > 2 else ""
        if best:
            figures = {f"{mean.name}.mean": float(mean.mean[mean.best]) for mean in case.means}
            figures |= {f"{mean.name}.against": float(mean.mean[model]) for mean in case.means}
            models = (model, *dict.fromkeys(mean.best for mean in best))
            words = {"means": f"{', and '.join(parts[:2])}{more}"}
            yield Finding("better-elsewhere", models, figures=figures, words=words)


def other_scope_findings(case: Case, column: str, pair: tuple[int, int]) -> Iterator[Finding]:
    """Yield findings for the kind of tasks that the ranking does not use: fixed or random.

    `column` is a metric or combined score, and `pair` has the indices of two models.
    """
    suite = case.required_suite
    for p, answer in other_scope_answer(suite, suite.columns[column], *pair):
        yield Finding("other-scope", pair, on=column, figures={"p_adjusted": p}, words={"answer": answer})


def seed_findings(
    close: Mapping[tuple[int, int], float], on: str, *, means: bool = False
) -> Iterator[Finding]:
    """Yield a finding if another random seed may change the result of a test of two models.

    Parameters
    ----------
    close : mapping of (int, int) to float
        Number of resamples that makes the result independent of the seed; 0 if it is.
    on : str
        Metric or combined score.
    means : bool
        True for a test of means.
    """
    needed, pair = max(close.values(), default=0.0), next((pair for pair in close if close[pair]), None)
    if pair is not None:
        words = {"of": "the mean of " * means, "remedy": option("resamples", round_up(int(needed)))}
        yield Finding("by-seed", pair, on, {"resamples_needed": needed}, words=words)


def same_scores_sentence(models: Sequence[str]) -> str:
    """Return the sentence about models with the same score on every sample."""
    return f"{join_names(models)} have the same score on every sample, so they cannot be separated."


def same_distribution_sentence(models: Sequence[str], on: str) -> str:
    """Return the sentence about models with the same score distribution.

    `on` names the metrics.
    """
    every = f"All {len(models)} models" if len(models) > 2 else join_names(models)
    return f"{every} have the same distribution of scores on {on}, so they cannot be separated."


# Default sentences of all studies.
SHARED_SENTENCES: Mapping[str, Sentence] = {
    "nothing-tested": NOTHING_TESTED,
    "judge-gain": lambda _, case: "" if case.judged is None else case.judged.gain_sentence,
    "better-elsewhere": "In these samples {means}.",
    "other-scope": "{answer}",
    "votes": "But {checks}.",
    "by-seed": "Close: with another seed, the test of {of}{0} against {1} may end differently; {remedy} "
    "should settle it.",
    "same-scores": lambda finding, case: same_scores_sentence([case.models[i] for i in finding.models]),
    "best-mean": "{0} has the best mean{means}.",
    "same-distribution": lambda finding, case: same_distribution_sentence(
        case.models,
        join_names([case.column_label(name) for name in (finding.on and [finding.on]) or case.columns]),
    ),
}


# Placeholder for all kinds that are not listed. These are answers, usually one per verdict.
ANSWER = "answer"

_SEVERITY = (
    f"more-failed; worse; worse-than-before; worse-in-earlier-run; not-scored; scoring-changed; {ANSWER}; "
    # Limits of an answer, and findings against it.
    "votes judges-disagree; worst-on-every-metric; nothing-tested; by-column; not-compared; same-scores; "
    "by-seed; few; unequal-clusters; "
    "loses-too; better; worse-tail-on-a-metric undecided-tail; ahead-in-order-1; "
    "best-mean; best-mean-hides-risk hidden-risk worse-tail; holds-at-every-look; detection-limit; "
    "runs-differ one-run-each; "
    # Further details.
    "judge-alone; judge-gain; by-task; other-scope; gain; best-macro-mean; metric-decides; more-often "
    "more-often-but-worse-tail more-often-but-milder; mean; better-elsewhere; tail tail-of-the-first "
    "untested-tail; first-without; first-by-metrics; choice-reason; counted-as; detectable-difference; "
    "scores-failed; "
    "endless-samples; possible-sizes; floor"
)
_PLACES = {kind: at for at, level in enumerate(_SEVERITY.split(";")) for kind in level.split()}


def severity_rank(kind: str) -> int:
    """Return the severity of a kind of finding as a rank, 0 for the most severe."""
    return _PLACES.get(kind, _PLACES[ANSWER])


# Kinds of findings that depend only on the numbers of samples.
SIZE_KINDS = ("few", "unequal-clusters", "detection-limit")


def limit_warnings(limits: Sequence[Remark]) -> list[str]:
    """Return the sentences of sample limitations as warnings, except those about the detection limit."""
    return [f"{text[0].lower()}{text[1:-1]}" for finding, text in limits if finding.kind != "detection-limit"]


def size_findings(scores: ClusteredScores, size: int, *, tested: bool = True) -> list[Remark]:
    """Return findings, with sentences, about small samples and small effective sample sizes (method §4).

    Parameters
    ----------
    scores : ClusteredScores
        Scores of k models.
    size : int
        Effective sample size.
    tested : bool
        If False, the result is empty.
    """
    figures = {"units": min(scores.cluster_counts), "effective_size": size}
    fewest = {"few": {"fewest": FEW_SAMPLES}}
    return [
        (Finding(kind, figures=figures | fewest.get(kind, {})), f"{text[0].upper()}{text[1:]}.")
        for kind, text in (size_warnings(scores, size) if tested else {}).items()
    ]


def detection_limit(size: int, unit: str = "samples") -> Finding:
    """Return the finding about the rarest event that `size` independent samples can detect.

    By the rule of three, n samples detect events that occur at least once in n/3 cases. `unit` is the plural
    noun for samples; "tasks" stands for randomly drawn tasks.
    """
    share = undetected_share(size) if unit == "tasks" else None
    figures = {"effective_size": size, "once_in": rarest_detectable(size) if share is None else 1 / share}
    return Finding("detection-limit", figures=figures if share is None else figures | {"share": share})


def detection_limit_remark(size: int, unit: str = "samples") -> Remark:
    """Return the finding about the rarest event that `size` samples can detect, and its sentence."""
    return detection_limit(size, unit), detection_limit_sentence(size, unit)


def sample_limits(columns: Sequence[ClusteredScores], *, tested: bool = True, per: str = "") -> list[Remark]:
    """Return findings, with sentences, about the limits of the smallest sample.

    The result is empty without columns.

    Parameters
    ----------
    columns : sequence of ClusteredScores
        Analysed scores. The one with the smallest effective sample size is used.
    tested : bool
        True to include the limitations of significance tests.
    per : str
        Phrase to append to the unit, such as " per group".
    """
    if not columns:
        return []
    least = min(columns, key=lambda scores: scores.min_effective_size)
    size = least.min_effective_size
    return [*size_findings(least, size, tested=tested), detection_limit_remark(size, least.unit_name + per)]


def table_limits(table: ScoreTable, *, tested: bool) -> list[Remark]:
    """Return findings, with sentences, about the limits of the table's sample size.

    If `tested` is False, limitations of significance tests are left out.
    """
    samples = table.row_samples
    sizes = ClusteredScores.build(table.clusters, table.clusters, samples=samples, paired=False)
    return sample_limits([sizes], tested=tested)


def group_sentence(group: str | None, sentence: str) -> str:
    """Add the name of a group to a sentence, or return it unchanged if the group is None (all samples)."""
    return sentence if group is None else f"Group {group}: {sentence[0].lower()}{sentence[1:]}"


def group_warnings(warnings: Mapping[str | None, Iterable[str]]) -> list[str]:
    """Return the warnings about all samples, followed by those about groups with the groups' names.

    Parameters
    ----------
    warnings : mapping of (str or None) to iterable of str
        Warnings by group; None stands for all samples.
    """
    everywhere = dict.fromkeys(warnings.get(None, ()))
    groups: dict[str, list[str]] = {}
    for group, lines in warnings.items():
        for line in dict.fromkeys(lines):
            if group is not None and line not in everywhere:
                groups.setdefault(line, []).append(group)
    return [*everywhere, *(f"group {listing(names, 5)}: {text}" for text, names in groups.items())]
