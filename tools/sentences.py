#!/usr/bin/env python3
"""Print, for each Markdown file: sentences, mean words a sentence, sentences over 30 words, private phrases."""
import re, sys
PRIVATE = re.compile(r"\b(told apart|tells? \w+ apart|anew|whose|beside|alike|doubt|gone|worth so many|drawn whole|wholes?|stands|in the place of|as one pot|minds|counts? alike|asked|told|of its own|of their own|is no [a-z]+|are no [a-z]+|no longer|used to|as before|a row a|a line a|a model a|each other than)\b", re.I)
def prose(text):
    text = re.sub(r"```.*?```", "", text, flags=re.S)
    text = re.sub(r"^#.*$|^\|.*$|^<.*$|^\s*!\[.*$", "", text, flags=re.M)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"`([^`]*)`", lambda m: m.group(1).replace(" ", "_").replace(".", "_"), text)
    return text
total_s = total_w = 0
for f in sys.argv[1:]:
    t = prose(open(f).read())
    sents = []
    for para in re.split(r"\n\s*\n|\n\s*[-*]\s|\n\s*\d+\.\s", t):
        para = " ".join(para.split())
        for s in re.split(r"(?<=[.!?:])\s+(?=[A-Z`*(\"0-9_-])", para):
            w = re.findall(r"[\w'’%–-]+", s)
            if len(w) > 2: sents.append((len(w), s))
    n = len(sents); w = sum(x for x, _ in sents); total_s += n; total_w += w
    hits = [s for _, s in sents if PRIVATE.search(s)]
    print(f"{f}: {n} sentences, mean {w / max(n,1):.1f}, over 30: {sum(x > 30 for x, _ in sents)}, private: {len(hits)}")
    if len(sys.argv) < 6:
        for x, s in sents:
            if x > 30: print(f"   [{x}] {s[:160]}")
        for s in hits: print(f"   <{PRIVATE.search(s).group(0)}> {s[:160]}")
print(f"all: mean {total_w / max(total_s,1):.1f} over {total_s}")
