"""Table of all export formats.

It imports no other module of riskrank, so that the command-line help can list the formats quickly.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Format:
    r"""An export format: the module that reads it, or where a flat file has its scores.

    The fields of a record are named as in a table: nested keys are joined by dots, and an object in a list is
    named by its ``name``, as in ``annotations.accuracy.score``. Several fields are separated by spaces;
    ``a|b`` stands for the first of two fields that is not empty.

    Attributes
    ----------
    text : str
        Line in ``--help``.
    module : str
        Module in this folder with a reader called ``read``. A flat format needs none.
    marks : str
        Regular expressions; each must match a field of the file, or the name of its folder with a slash.
    absent : str
        Regular expression of fields that no file of the format has.
    unique : str
        Regular expression of a field that only this format has: a table with it and the marks is an export.
    records : str
        Fields with lists of records. A record also has the fields around its list.
    model, sample : str
        Fields whose values are joined by slashes. Without a model, the file names it; without a sample, the
        row number does.
    metric : str
        Regular expression of the fields with scores; its group captures the name of the metric.
    higher, lower : str
        Regular expressions of the metrics with this direction.
    auxiliary : str
        Metrics such as time and tokens, where lower is better. They are read only on request.
    bounds : (float, float), optional
        Bounds of all metrics.
    columns : mapping of str to str
        Further columns and the fields that they contain.
    choices : mapping of str to str
        Columns whose values the option `filter` selects, with their plurals for messages.
    error : str
        Fields with the reason for a missing score; ``{}`` stands for the metric.
    input, output : str
        Fields with the model's input and output, or the beginnings of their names.
    distinct : bool
        Whether records of the same sample are different samples, because a text names them.
    preferred : str
        Field of files that are read instead of others in their folder.
    """

    text: str
    module: str = ""
    marks: str = ""
    absent: str = ""
    unique: str = ""
    records: str = ""
    model: str = ""
    sample: str = ""
    metric: str = ""
    higher: str = ""
    lower: str = ""
    auxiliary: str = ""
    bounds: tuple[float, float] | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    choices: Mapping[str, str] = field(default_factory=dict)
    error: str = "error"
    input: str = "input"
    output: str = "output"
    distinct: bool = False
    preferred: str = ""

    def matches(self, names: Iterable[str], *marks: str) -> bool:
        """Return whether a file with some fields has the marks of the format, and further ones."""
        lines = "\n".join(names)  # one search over all names; there may be thousands
        found = (re.search(f"^(?:{mark})$", lines, re.MULTILINE) for mark in (*self.marks.split(), *marks))
        return all(found) and not (self.absent and re.search(f"^(?:{self.absent})$", lines, re.MULTILINE))


def is_export_table(columns: Iterable[str]) -> bool:
    """Return whether a table has columns that only the exports of one format have."""
    columns = [*columns]
    return any(form.unique and form.matches(columns, form.unique) for form in EXPORTS.values())


_RAGAS_SCORES = (
    r"(faithfulness|factual_correctness|semantic_similarity|nv_\w+|answer_(relevancy|correctness|similarity)"
    r"|((non_)?llm_)?context_(precision|recall|entity_recall|utilization)(_with(out)?_reference)?)(\(.*)?"
)

EXPORTS: dict[str, Format] = {
    "lm-eval": Format(
        module="lm_eval", text="lm-evaluation-harness: samples from --log_samples, or results only."
    ),
    "inspect": Format(module="inspect_logs", text="Inspect: .eval and .json logs."),
    "promptfoo": Format(module="promptfoo", text="promptfoo: results as JSON or JSONL."),
    "helm": Format(module="helm", text="HELM: run folders."),
    "every-eval-ever": Format(module="every_eval_ever", text="Every Eval Ever: instance rows."),
    "alpaca-eval": Format(
        text="AlpacaEval: judge annotations.",
        marks="generator_1 generator_2 instruction",
        unique="preference",
        model="generator_2",
        sample="instruction",
        metric="(win_rate)",
        higher="win_rate",
        columns={"annotator": "annotator", "reference": "generator_1", "dataset": "dataset"},
        choices={"annotator": "annotators", "reference": "references"},
        input="instruction",
        output="output_2",
    ),
    "mt-bench": Format(
        module="mt_bench",
        text="MT-Bench: FastChat judgments of single answers or pairs.",
        marks="question_id g1_winner|winner|judge g1_winner|winner|score model|model_[1a]|model1(_id)?",
        unique="g1_winner|judgment",
    ),
    "livebench": Format(
        text="LiveBench: ground-truth judgments.",
        marks="question_id model|model_id score task|model_judgment/",
        absent="judge",
        model="model|model_id",
        sample="task question_id later_turn",
        metric="(score)",
        higher="score",
        columns={"category": "category", "task": "task", "turn": "turn"},
    ),
    "openai-evals": Format(module="openai_evals", text="OpenAI Evals: event logs."),
    "lighteval": Format(module="lighteval", text="lighteval: details as Parquet, or results only."),
    "deepeval": Format(
        text="DeepEval: test runs.",
        marks="testCases|conversationalTestCases|testRunData",
        records="testRunData.testCases testRunData.conversationalTestCases testCases conversationalTestCases",
        model="testRunData.hyperparameters.model|hyperparameters.model",
        sample="name|order",
        metric=r"metricsData\.(.+)\.score|(success)",
        higher="success",
        error="metricsData.{}.error",
        output="actualOutput",
    ),
    "mixinstruct": Format(
        text="MixInstruct: candidates with scores.",
        marks="candidates decoding_method scores model",
        records="candidates",
        model="model",
        sample="id",
        metric=r"scores\.(.+)",
        higher=".+",
        columns={"decoding": "decoding_method"},
        choices={"decoding": "decoding methods"},
        input="instruction input",
        output="text",
    ),
    "mlflow": Format(
        text="MLflow: evaluation result tables.",
        marks="columns data .+/(score|value)|latency|token_count",
        sample="inputs|input|question|request|prompt|query",
        metric="(.+/(?:score|value)|latency|token_count)",
        higher=r"(answer_(correctness|relevance|similarity)|faithfulness|relevance|exact_match|bleu"
        r"|rouge(1|2|L|Lsum)|(precision|recall|ndcg)_at_\d+)/.*",
        lower="(latency|toxicity|flesch_kincaid_grade_level|ari_grade_level)(/.*)?",
        input="inputs|input|question|request|prompt|query",
        output="outputs|output|response|answer",
        distinct=True,
    ),
    "ragas": Format(
        text="Ragas: results as CSV.",
        marks=f"user_input|question {_RAGAS_SCORES}",
        absent="judge|model",
        sample="user_input|question",
        metric=r"(?!(?:user_input|question|query_\w+|response|answer|contexts|ground_truths?|rubrics?|metadata"
        r"|re(?:trieved|ference)(?:_\w+)?|multi_responses|\w+_name|evolution_type|episode_done"
        r"|Unnamed: \d+|index|row|(?i:\w*_?id|\w*_id_\w*))?$)(.+)",
        higher=_RAGAS_SCORES,
        lower="noise_sensitivity.*",
        input="user_input|question",
        output="response|answer",
        distinct=True,
    ),
    "junit": Format(module="junit", text="JUnit: XML of a test runner, one sample per test."),
    "swe-bench": Format(
        text="SWE-bench: run or instance reports.",
        marks="resolved_ids|resolved unresolved_ids|patch_successfully_applied",
        model="model",
        sample="instance_id",
        metric="(resolved)",
        higher="resolved",
        preferred="resolved_ids",
    ),
    "terminal-bench": Format(
        text="Terminal-Bench: Harbor trial results, and results of version 1.",
        marks="trial_name|is_resolved agent_info|failure_mode task_name|task_id",
        records="results",
        model="agent_info.name agent_info.model_info.name",
        sample="task_name|task_id",
        metric=r"verifier_result\.rewards\.(.+)|(is_resolved)|agent_result\.(n_(?:in|out)put_tokens|cost_usd)",
        higher="reward|is_resolved",
        auxiliary="n_input_tokens n_output_tokens cost_usd",
        columns={"dataset": "source"},
        preferred="results",
    ),
    "mteb": Format(
        module="mteb",
        text="MTEB: result folders, one file per task.",
        marks="main_score hf_subset scores",
    ),
    "braintrust": Format(
        text="Braintrust: experiment events as JSON.",
        marks=r"root_span_id scores(\..+)? input(\..+)?",
        unique="root_span_id",
        records="events data",
        sample="input",
        metric=r"scores\.(.+)",
        higher=".+",
        bounds=(0.0, 1.0),
    ),
    "langsmith": Format(
        text="LangSmith: the result table of an experiment.",
        marks=r"example_id execution_time feedback\..+",
        unique="execution_time",
        sample="example_id",
        metric=r"feedback\.(.+)|(execution_time)",
        auxiliary="execution_time",
        input="inputs",
        output="outputs",
    ),
    "phoenix": Format(
        text="Phoenix: experiment runs as CSV or JSON.",
        marks="example_id repetition_number reference_output",
        unique="repetition_number",
        sample="example_id",
        metric=r"annotation(?:_|s\.)(.+)[_.]score|(latency_ms|(?:prompt|completion)_token_count)",
        auxiliary="latency_ms prompt_token_count completion_token_count",
        error="error|annotation_{}_error|annotations.{}.error",
    ),
    "langfuse": Format(
        text="Langfuse: exported scores as CSV or JSON.",
        marks="trace_?[iI]d data_?[tT]ype string_?[vV]alue name",
        unique="string_?[vV]alue",
        sample="traceId|trace_id observationId|observation_id",
        metric=r"value\.(.+)",
    ),
    "sklearn": Format(
        module="sklearn",
        text="scikit-learn: cv_results_, cross_validate, or out-of-fold predictions with y_true.",
    ),
}
