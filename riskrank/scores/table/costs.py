"""Which way metrics are better, by their names."""

from __future__ import annotations

import re

# Stands in --lower or --higher for the metrics that have no direction otherwise.
ALL_OTHERS = "*"

# Words that name a quantity people want less of. Matched word by word, so that "timeline" is not "time".
_COST_NAMES = """loss losses logloss error errors err latency cost costs toxicity toxic perplexity ppl brier
    rmse mse mae mape smape rmsle wer cer ter fpr fnr eer fid time runtime walltime duration seconds secs
    milliseconds ms price co2 emission emissions carbon energy memory ram nll crossentropy regret risk
    distance divergence kl penalty hallucination hallucinations violation violations failure failures misses
    bias ece flops overhead delay deviation"""
_COST_WORDS = frozenset(_COST_NAMES.split())
_WORD = re.compile(r"[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+")
# Units of time and energy behind a name, as in "answer (s)".
_COST_UNIT = re.compile(r"[(\[]\s*([mun\u00b5\u03bc]?s|sec|min|[km]?Wh)\s*[)\]]\s*$")


def looks_like_a_cost(name: str) -> bool:
    """Whether a word of the metric's name, or the unit behind it, says that less of it is better."""
    words = [word.lower() for word in _WORD.findall(name)]
    return bool(_COST_UNIT.search(name)) or any(
        word in _COST_WORDS or word.rstrip("0123456789") in _COST_WORDS for word in words
    )
