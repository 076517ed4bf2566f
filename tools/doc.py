#!/usr/bin/env python3
"""Replace docstrings in bulk. Run from the top of the clone:  doc.py BLOCKS.txt

BLOCKS.txt:
    @@ riskrank/engine/x.py
    ## module
    One-line summary.
    ## Class
    Summary.

    More text, unindented; the tool indents it. Blank lines are kept.
    ## Class.method
    -                      (a single minus deletes the docstring)
    ## outer.inner
    Text.
"""
import ast
import fcntl
import re
import sys
from pathlib import Path

TOP = Path.cwd()


def nodes(tree):
    out = {"module": tree}
    def walk(node, prefix):
        for n in ast.iter_child_nodes(node):
            if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                q = f"{prefix}{n.name}"
                out.setdefault(q, []).append(n) if q not in out else out[q].append(n)
                walk(n, q + ".")
            else:
                walk(n, prefix)
    walk(tree, "")
    return out


def render(text, indent):
    lines = text.strip("\n").split("\n")
    raw = "r" if "\\" in text else ""
    if len(lines) == 1:
        return [f'{indent}{raw}"""{lines[0].strip()}"""']
    out = [f'{indent}{raw}"""{lines[0].rstrip()}']
    out += [(indent + line.rstrip()) if line.strip() else "" for line in lines[1:]]
    return [*out, f'{indent}"""']


def apply(path, blocks):
    f = TOP / path
    text = f.read_text()
    tree = ast.parse(text)
    known = nodes(tree)
    lines = text.split("\n")
    edits = []
    for q, new in blocks:
        node = known.get(q)
        if node is None:
            print(f"{path}: no {q}")
            continue
        every = node if isinstance(node, list) else [node]
        if len(every) > 1:
            every = [n for n in every if ast.get_docstring(n)] or every[:1]
            if len(every) > 1:
                print(f"{path}: {q} stands {len(every)} times; the first with a docstring is taken")
        node = every[0]
        first = node.body[0] if node.body else None
        has = first is not None and isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
        indent = "" if q == "module" else " " * (node.col_offset + 4)
        if new.strip() == "-":
            if has:
                if len(node.body) == 1:
                    print(f"{path}: {q} has nothing but its docstring: kept")
                    continue
                edits.append((first.lineno, first.end_lineno, None))
            continue
        if not new.strip():
            print(f"{path}: {q}: empty text")
            continue
        block = render(new, indent)
        if has:
            edits.append((first.lineno, first.end_lineno, block))
        else:
            line = first.lineno
            if getattr(first, "decorator_list", None):
                line = first.decorator_list[0].lineno
            edits.append((line, line - 1, block))
    for lo, hi, block in sorted(edits, key=lambda e: -e[0]):
        lines[lo - 1 : hi] = block or []
        if block is None and lo - 1 < len(lines) and not lines[lo - 1].strip():
            del lines[lo - 1]
    out = "\n".join(lines)
    new_tree = ast.parse(out)
    def strip(t):
        for n in ast.walk(t):
            if isinstance(n, (ast.Module, ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)) and ast.get_docstring(n) is not None:
                n.body = n.body[1:] or [ast.Pass()]
        return ast.dump(t)
    assert strip(ast.parse(text)) == strip(new_tree), path
    f.write_text(out)
    long = [i for i, line in enumerate(out.split("\n"), 1) if len(line) > 110]
    print(f"{path}: {len(edits)} docstrings" + (f"; lines over 110: {long}" if long else ""))


def main():
    lock = open(str(TOP / ".git" / "ren.lock"), "w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    path, q, buf, blocks = None, None, [], {}
    def flush():
        if path and q:
            blocks.setdefault(path, []).append((q, "\n".join(buf).strip("\n")))
    for line in Path(sys.argv[1]).read_text().split("\n"):
        if line.startswith("@@ "):
            flush(); path, q, buf = line[3:].strip(), None, []
        elif line.startswith("## "):
            flush(); q, buf = line[3:].strip(), []
        else:
            buf.append(line)
    flush()
    for p, b in blocks.items():
        try:
            apply(p, b)
        except Exception as e:
            print(f"FAILED {p}: {type(e).__name__} {e}")


if __name__ == "__main__":
    main()
