"""Table of all export formats.

It imports no other module of riskrank, so that the command line can show it in its help quickly.
"""

# Format → module in this folder (``:name`` if the reader is not called ``read``) and its line in --help.
# To add a format, add its module and a row here.
EXPORTS: dict[str, tuple[str, str]] = {
    "lm-eval": ("lm_eval", "lm-evaluation-harness: the samples of --log_samples, or results alone."),
    "inspect": ("inspect_logs", "Inspect: .eval and .json logs."),
    "promptfoo": ("promptfoo", "promptfoo: results as JSON or JSONL."),
    "helm": ("helm", "HELM: folders of runs."),
    "every-eval-ever": ("every_eval_ever", "Every Eval Ever: rows of instances."),
    "alpaca-eval": ("alpaca_eval", "AlpacaEval: annotations of a judge."),
    "mt-bench": ("judgments:mt_bench", "MT-Bench: judgments of FastChat, of single answers or of pairs."),
    "livebench": ("judgments:livebench", "LiveBench: ground-truth judgments."),
    "openai-evals": ("openai_evals", "OpenAI Evals: logs of events."),
    "lighteval": ("lighteval", "lighteval: details as Parquet, or results alone."),
    "deepeval": ("deepeval", "DeepEval: test runs."),
    "mixinstruct": ("mixinstruct", "MixInstruct: candidates with their scores."),
    "mlflow": ("question_tables:mlflow", "MLflow: tables of evaluation results."),
    "ragas": ("question_tables:ragas", "Ragas: results as CSV."),
    "junit": ("junit", "JUnit: XML of a test runner, a test a sample."),
    "swe-bench": ("swe_bench", "SWE-bench: reports of runs or of instances."),
    "terminal-bench": ("terminal_bench", "Terminal-Bench: results of Harbor's trials, and of version 1."),
    "mteb": ("mteb", "MTEB: folders of results, a file a task."),
    "braintrust": ("trackers:braintrust", "Braintrust: events of an experiment as JSON."),
    "langsmith": ("trackers:langsmith", "LangSmith: the table of an experiment's results."),
    "phoenix": ("trackers:phoenix", "Phoenix: runs of an experiment as CSV or JSON."),
    "langfuse": ("trackers:langfuse", "Langfuse: exported scores as CSV or JSON."),
    "sklearn": (
        "sklearn",
        "scikit-learn: cv_results_, cross_validate, out-of-fold predictions beside y_true.",
    ),
}
