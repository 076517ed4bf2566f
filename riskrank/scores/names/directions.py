"""Which way metrics are better, by their names."""

from __future__ import annotations

import re

from riskrank.scores.names.words import listed_words, plain, vocabulary, words

# Words that name a quantity people want less of. Matched word by word, so that "timeline" is not "time".
_AMOUNT_NAMES = """latency cost costs time runtime walltime duration seconds secs milliseconds ms price co2
    emission emissions carbon energy memory ram overhead delay latenz kosten dauer preis latence latenza
    cout duree temps ttft wait prix latencia costo coste precio custo prezzo tempo"""
_COST_NAMES = """loss losses logloss error errors err toxicity toxic perplexity ppl brier rmse mse mae mape
    smape rmsle wer cer ter fpr fnr eer fid nll crossentropy regret hallucination hallucinations violation
    violations failure failures misses ece mistakes fehler fehlerrate verlust erreur perte perdida errore
    errores toxicidad timeout timeouts failed crashed false miss bugs defects complaints crps bpb
    slippage drawdown"""
# Less of these is better more often than not: nobody takes that for granted.
_DOUBTFUL_NAMES = "flops risk refusal refusals distance divergence kl penalty bias deviation"
# Words that turn the others around, or may: what is saved, avoided or negated.
_TURNING = vocabulary(
    """free saving savings saved reduction reduced avoidance avoided efficiency detection detected neg
    negative fixed caught found non no not without inverse minus recall precision f1 accuracy auc auroc
    explained score"""
)
# Words for how long a run took, which beside a score is bookkeeping.
_DURATIONS = vocabulary("duration elapsed runtime walltime wall uptime dauer duree")
# Words that name what people want more of.
_GOOD_NAMES = vocabulary(
    """accuracy acc f1 precision recall em exact match rouge bleu chrf meteor bertscore score scores reward
    return rating ratings pass passed solved success successes correct win wins won auc auroc ap map
    ndcg mrr faithfulness helpfulness relevance coherence fluency quality groundedness similarity iou
    dice r2 utility genauigkeit richtigkeit punkte exactitude fidelite precision puntuacion exactitud
    punteggio accuratezza resolved resolve acceptance likelihood kappa correlation satisfaction
    bewertung note"""
)
# Words for what is true or false of a sample.
_TRUTHS = vocabulary("""pass passed solved success correct resolved win won match exact em accepted right""")
_AMOUNT_WORDS = vocabulary(_AMOUNT_NAMES)
_DOUBTFUL_WORDS = vocabulary(_DOUBTFUL_NAMES)
_COST_WORDS = _AMOUNT_WORDS | vocabulary(_COST_NAMES) | _DOUBTFUL_WORDS
_WORD = re.compile(r"[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+")
# Units of time and energy behind a name, as in "answer (s)".
_COST_UNIT = re.compile(r"[(\[]\s*([mun\u00b5\u03bc]?s|sec|min|[km]?Wh)\s*[)\]]\s*$")


def looks_like_a_cost(name: str) -> bool:
    """Whether a word of the metric's name, or the unit behind it, says that less of it is better."""
    return _says(name, _COST_WORDS)


def lower_by_name(name: str) -> bool:
    """Whether the name leaves no doubt that less is better."""
    return looks_like_a_cost(name) and not doubtful_by_name(name)


def doubtful_by_name(name: str) -> bool:
    """Whether less is probably better by the name, and nobody should take that for granted."""
    found = words(name)
    turned = found & _TURNING or (found & _GOOD_NAMES and not found & {"return", "match", "rating"})
    certain = _says(name, _COST_WORDS - _DOUBTFUL_WORDS)
    return looks_like_a_cost(name) and bool(turned or not certain)


def looks_like_an_amount(name: str) -> bool:
    """Whether they say that it is money, time, energy or room: no share of anything."""
    return _says(name, _AMOUNT_WORDS)


def is_duration(name: str) -> bool:
    """Whether the name says how long a run took."""
    return bool(words(name) & _DURATIONS)


def names_a_metric(name: str) -> bool:
    """Whether a word of the name says what is measured."""
    return looks_like_a_cost(name) or bool(words(name) & _GOOD_NAMES)


def names_a_truth(name: str) -> bool:
    """Whether the name says something that is true or false of a sample."""
    return bool(words(name) & _TRUTHS)


def measured_by(title: str) -> str:
    """The last word of a title, such as that of a file, that names a metric; empty where none does."""
    return next((word for word in reversed(listed_words(title)) if names_a_metric(word)), "")


def _says(name: str, known: frozenset[str]) -> bool:
    found = [word.lower() for word in _WORD.findall(plain(name))]
    return bool(_COST_UNIT.search(name)) or any(
        word in known or word.rstrip("0123456789") in known for word in found
    )
