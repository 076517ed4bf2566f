#!/usr/bin/env python3
"""Rename Python identifiers in a repository, safely and in one step. Run from the top of the clone.

ren.py module OLD NEW                 move a module or package (paths such as riskrank/a/b.py) and rewrite its imports
ren.py names FILE OLD=NEW ...         module-level functions, classes, constants of FILE, wherever they are imported
ren.py locals FILE FUNC OLD=NEW ...   parameters and variables of a function (FUNC, Class.method, outer.inner); keyword
                                      arguments of its calls follow, in all files. FUNC '*' is every function of the file.
ren.py members FILE CLASS OLD=NEW ... methods, properties, fields of a class; uses are found by mypy (seconds to a minute)
ren.py attr OLD=NEW ... [--in PATH ...]  every attribute .OLD, member OLD of a class body and keyword OLD=, in all files
                                      (or those below the paths). Only for distinctive names.
ren.py file FILE OLD=NEW ...          every token OLD of one file
ren.py batch LIST                     lines of the above in one run; all its `members` lines share one run of mypy: do this

A new name that stands already in the same scope is refused; --force goes on all the same. Strings, comments and docs are not
touched, except dotted module paths: look for leftovers with grep.
"""
import ast
import fcntl
import io
import os
import re
import subprocess
import sys
import tokenize
from pathlib import Path

TOP = Path.cwd()
ROOTS = ["riskrank", "tests", "sample_data", ".ci", "docs"]
FORCE = "--force" in sys.argv
if FORCE:
    sys.argv.remove("--force")


def files(roots=ROOTS):
    for root in roots:
        p = TOP / root
        if p.is_file():
            yield p
        for path in sorted(p.rglob("*.py")) if p.is_dir() else ():
            yield path


def tokens(text):
    return list(tokenize.generate_tokens(io.StringIO(text).readline))


def names_in(text):
    out = []
    for t in tokens(text):
        if t.type == tokenize.NAME:
            out.append((t.start, t.end, t.string))
    return out


def replace(text, spots):
    """spots: dict (line, col) -> (old, new)."""
    lines = text.splitlines(keepends=True)
    for (line, col), (old, new) in sorted(spots.items(), reverse=True):
        s = lines[line - 1]
        assert s[col:col + len(old)] == old, (line, col, old, s)
        lines[line - 1] = s[:col] + new + s[col + len(old):]
    return "".join(lines)


def write(path, text):
    ast.parse(text)
    path.write_text(text)


def char_col(lines, node_line, byte_col):
    return len(lines[node_line - 1].encode()[:byte_col].decode())


class Positions:
    """Name positions by kind, in characters."""

    def __init__(self, text):
        self.text, self.lines = text, text.split("\n")
        self.tree = ast.parse(text)
        self.toks = [t for t in tokens(text)]
        if sys.version_info < (3, 12):
            self.toks += self._fstring_tokens()
        self.at = {t.start: t.string for t in self.toks if t.type == tokenize.NAME}

    def _fstring_tokens(self):
        """Before 3.12 f-strings are one token: find the names inside by position in the source."""
        out = []
        for t in list(self.toks):
            if t.type == tokenize.STRING and re.match(r"(?i)^(rf|fr|f)['\"]", t.string):
                out += self._inside(t)
        return out

    def _inside(self, t):
        # scan replacement fields
        s = t.string
        m = re.match(r"(?i)^[a-z]*('''|\"\"\"|'|\")", s)
        q = m.group(1)
        i, end = m.end(), len(s) - len(q)
        line, col = t.start
        pos = []  # absolute offsets -> (line, col)
        l, c = line, col
        where = []
        for ch in s:
            where.append((l, c))
            if ch == "\n":
                l, c = l + 1, 0
            else:
                c += 1
        out = []

        def literal(i, end):
            while i < end:
                if s[i] == "{":
                    if i + 1 < end and s[i + 1] == "{":
                        i += 2
                        continue
                    i = field(i + 1, end)
                elif s[i] == "}" :
                    i += 1
                else:
                    i += 1
            return i

        def field(i, end):
            # expression until matching } or : or ! at depth 0
            depth, start = 0, i
            quote = None
            while i < end:
                ch = s[i]
                if quote:
                    if ch == quote:
                        quote = None
                    i += 1
                    continue
                if ch in "'\"":
                    quote = ch
                elif ch in "([{":
                    depth += 1
                elif ch in ")]" or (ch == "}" and depth):
                    depth -= 1
                elif ch == "}":
                    expr(start, i)
                    return i + 1
                elif ch == "!" and depth == 0 and s[i + 1] != "=":
                    expr(start, i)
                    start = None
                    i += 2
                    continue
                elif ch == ":" and depth == 0 and not (i + 1 < end and s[i + 1] == "="):
                    if start is not None:
                        expr(start, i)
                    # format spec
                    i += 1
                    while i < end and s[i] != "}":
                        i = field(i + 1, end) if s[i] == "{" else i + 1
                    return i + 1
                i += 1
                if start is None and ch == "}":
                    return i
            return i

        def expr(a, b):
            text = s[a:b]
            try:
                toks = list(tokenize.generate_tokens(io.StringIO("(" + text + ")").readline))
            except (tokenize.TokenError, SyntaxError):
                return
            offsets = [0]
            for ln in ("(" + text + ")").splitlines(keepends=True):
                offsets.append(offsets[-1] + len(ln))
            for k in toks:
                if k.type == tokenize.NAME:
                    off = offsets[k.start[0] - 1] + k.start[1] - 1 + a
                    st = where[off]
                    out.append(tokenize.TokenInfo(tokenize.NAME, k.string, st, (st[0], st[1] + len(k.string)), ""))
                elif k.type == tokenize.STRING and re.match(r"(?i)^(rf|fr|f)['\"]", k.string):
                    off = offsets[k.start[0] - 1] + k.start[1] - 1 + a
                    st = where[off]
                    out.extend(self._inside(tokenize.TokenInfo(tokenize.STRING, k.string, st, st, "")))

        literal(i, end)
        return out

    def name_tokens(self, lo=None, hi=None):
        """(start, string, previous token string, next token string)"""
        seq = sorted({(t.start, t.string) for t in self.toks if t.type == tokenize.NAME})
        return seq

    def before(self, start):
        """The last character before a position that is no space, on its line or above."""
        line, col = start
        s = self.lines[line - 1][:col].rstrip()
        while not s and line > 1:
            line -= 1
            s = self.lines[line - 1].split("#")[0].rstrip() if "'" not in self.lines[line-1] and '"' not in self.lines[line-1] else self.lines[line - 1].rstrip()
        return s[-1:] if s else ""

    def is_attr(self, start):
        line, col = start
        s = self.lines[line - 1][:col].rstrip()
        if s:
            return s.endswith(".") and not s.endswith("...") and not re.search(r"(from|import)\s+\.+$", s)
        return self.before(start) == "."


def keyword_positions(p):
    """Positions of keyword names in calls: (line, col) -> call node."""
    out = {}
    for node in ast.walk(p.tree):
        if isinstance(node, ast.Call):
            for kw in node.keywords:
                if kw.arg:
                    out[(kw.lineno, char_col(p.lines, kw.lineno, kw.col_offset))] = (node, kw)
    # within f-strings the positions before 3.12 are unreliable: leave
    return out


def function_node(tree, qual):
    parts = qual.split(".")
    body = tree.body
    node = None
    for part in parts:
        for n in body if isinstance(body, list) else []:
            pass
        found = None
        stack = list(body)
        while stack:
            n = stack.pop(0)
            if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and n.name == part:
                found = n
                break
            if isinstance(n, (ast.If, ast.Try, ast.With, ast.For, ast.While)):
                stack = list(ast.iter_child_nodes(n)) + stack
        if found is None:
            sys.exit(f"no {part} of {qual}")
        node, body = found, found.body
    return node


def do_names(path, pairs):
    path = Path(path)
    module = ".".join(path.with_suffix("").parts)
    if module.endswith(".__init__"):
        module = module[: -len(".__init__")]
    changes = {}
    for f in files():
        text = f.read_text()
        if not any(old in text for old in pairs):
            continue
        p = Positions(text)
        here = f.resolve() == (TOP / path).resolve()
        local, aliased, modules = {}, set(), set()
        kwpos = keyword_positions(p)
        spots = {}
        import_spots = {}
        if here:
            tops = set()
            for n in ast.walk(p.tree):
                pass
            local = dict(pairs)
        for n in ast.walk(p.tree):
            if isinstance(n, ast.ImportFrom):
                mod = n.module or ""
                if n.level:
                    base = list(f.relative_to(TOP).with_suffix("").parts)[: -n.level]
                    mod = ".".join([*base, mod]) if mod else ".".join(base)
                for a in n.names:
                    pos = (a.lineno, char_col(p.lines, a.lineno, a.col_offset))
                    if mod == module and a.name in pairs:
                        import_spots[pos] = (a.name, pairs[a.name])
                        if a.asname is None:
                            local[a.name] = pairs[a.name]
                    elif f"{mod}.{a.name}" == module:
                        modules.add(a.asname or a.name)
            elif isinstance(n, ast.Import):
                for a in n.names:
                    if a.name == module:
                        modules.add(a.asname or a.name)
        if not local and not import_spots and not modules:
            continue
        have = {s for st, s in p.name_tokens() if not p.is_attr(st) and st not in kwpos}
        for old, new in local.items():
            if new in have and not FORCE:
                sys.exit(f"{f}: {new} stands there already (for {old}); --force if it is no clash")
        # parameters/locals of functions that shadow OLD: leave them
        shadow = []
        for fn in ast.walk(p.tree):
            if isinstance(fn, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                a = fn.args
                bound = {x.arg for x in [*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg] if x}
                if not isinstance(fn, ast.Lambda):
                    glob = {g for n in ast.walk(fn) if isinstance(n, ast.Global) for g in n.names}
                    bound |= {n.id for n in ast.walk(fn) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)} - glob
                hit = bound & set(local)
                if hit:
                    first = fn.body[0].lineno if isinstance(fn.body, list) else fn.body.lineno
                    shadow.append((fn.lineno, fn.end_lineno, hit))
            elif isinstance(fn, ast.ClassDef):
                for st in fn.body:
                    nm = getattr(st, "name", None) or (st.target.id if isinstance(st, ast.AnnAssign) and isinstance(st.target, ast.Name) else None)
                    targets = [t.id for t in st.targets if isinstance(t, ast.Name)] if isinstance(st, ast.Assign) else []
                    for x in [nm, *targets]:
                        if x in local:
                            # the defining token only
                            shadow.append((st.lineno, st.lineno, {x, "__def__"}))
        for st, s in p.name_tokens():
            if st in import_spots:
                spots[st] = import_spots[st]
                continue
            if s in local and not p.is_attr(st) and st not in kwpos:
                if any(lo <= st[0] <= hi and s in hit for lo, hi, hit in shadow):
                    if not any(lo <= st[0] <= hi and s in hit and "__def__" not in hit for lo, hi, hit in shadow):
                        # class member definition line: skip only the token that defines
                        line = p.lines[st[0] - 1]
                        if re.match(rf"\s*(def |async def |class )?{s}\b", line) and line.index(s) == st[1]:
                            continue
                    else:
                        print(f"note: {f.relative_to(TOP)}:{st[0]} {s} is a local name there, left")
                        continue
                spots[st] = (s, local[s])
            elif s in pairs and p.is_attr(st) and modules:
                line = p.lines[st[0] - 1][: st[1]].rstrip()[:-1].rstrip()
                m = re.search(r"([\w.]+)$", line)
                if m and m.group(1) in modules:
                    spots[st] = (s, pairs[s])
        if spots:
            changes[f] = replace(text, spots)
    for f, text in changes.items():
        write(f, text)
    print(f"{', '.join(f'{a}->{b}' for a, b in pairs.items())}: {len(changes)} files")


def do_locals(path, qual, pairs):
    f = TOP / path
    text = f.read_text()
    p = Positions(text)
    if qual == "*":
        fns = [n for n in ast.walk(p.tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
    else:
        fns = [function_node(p.tree, qual)]
    kwpos = keyword_positions(p)
    spots, params = {}, {}
    for fn in fns:
        if isinstance(fn, ast.ClassDef):
            sys.exit(f"{qual} is a class: use members")
        a = fn.args
        args = {x.arg for x in [*a.posonlyargs, *a.args, *a.kwonlyargs] if x}
        stored = {n.id for n in ast.walk(fn) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        every = args | stored | {x.arg for x in (a.vararg, a.kwarg) if x}
        for sub in ast.walk(fn):
            if isinstance(sub, (ast.FunctionDef, ast.Lambda, ast.AsyncFunctionDef)):
                b = sub.args
                every |= {x.arg for x in [*b.posonlyargs, *b.args, *b.kwonlyargs, b.vararg, b.kwarg] if x}
                if not isinstance(sub, ast.Lambda):
                    every.add(sub.name)
            elif isinstance(sub, ast.ExceptHandler) and sub.name:
                every.add(sub.name)
            elif isinstance(sub, (ast.Import, ast.ImportFrom)):
                every |= {x.asname or x.name for x in sub.names}
            elif isinstance(sub, ast.MatchAs) and sub.name:
                every.add(sub.name)
            elif isinstance(sub, ast.MatchStar) and sub.name:
                every.add(sub.name)
        mine = {o: n for o, n in pairs.items() if o in every}
        if qual != "*" and set(pairs) - set(mine):
            sys.exit(f"{path} {qual}: not bound there: {', '.join(set(pairs) - set(mine))}")
        if not mine:
            continue
        start, end = fn.lineno, fn.end_lineno
        body_names = {s for st, s in p.name_tokens() if start <= st[0] <= end and not p.is_attr(st) and st not in kwpos}
        for old, new in mine.items():
            if new in body_names and not FORCE:
                sys.exit(f"{path} {fn.name}: {new} stands there already (for {old})")
        outside = {fn.name}
        for st, s in p.name_tokens():
            if start <= st[0] <= end and s in mine and not p.is_attr(st) and st not in kwpos:
                # default values and annotations belong outside, but rarely clash
                spots[st] = (s, mine[s])
        for old in set(mine) & args:
            params.setdefault(fn.name, {})[old] = mine[old]
            if fn.name == "__init__" and "." in qual:
                params.setdefault(qual.split(".")[-2], {})[old] = mine[old]
    new_text = replace(text, spots) if spots else text
    changes = {f: new_text} if spots else {}
    count = 0
    if params:
        for g in files():
            t = changes.get(g) or g.read_text()
            if not any(name in t for name in params):
                continue
            q = Positions(t)
            sp = {}
            for pos, (call, kw) in keyword_positions(q).items():
                callee = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", None)
                target = params.get(callee)
                if callee == "partial" and call.args:
                    c0 = call.args[0]
                    target = params.get(c0.id if isinstance(c0, ast.Name) else getattr(c0, "attr", None))
                if target and kw.arg in target and q.lines[pos[0] - 1][pos[1]:].startswith(kw.arg):
                    sp[pos] = (kw.arg, target[kw.arg])
            if sp:
                changes[g] = replace(t, sp)
                count += len(sp)
    for g, t in changes.items():
        write(g, t)
    print(f"{path} {qual}: {len(spots)} tokens, {count} keywords in calls")


def do_attr(pairs, roots, quiet=False):
    total = 0
    for f in files(roots):
        text = f.read_text()
        if not any(old in text for old in pairs):
            continue
        p = Positions(text)
        kwpos = keyword_positions(p)
        spots = {}
        members = set()
        for c in ast.walk(p.tree):
            if isinstance(c, ast.ClassDef):
                for st in c.body:
                    if isinstance(st, (ast.FunctionDef, ast.AsyncFunctionDef)):
                        members.add((st.name, st.lineno))
                    elif isinstance(st, ast.AnnAssign) and isinstance(st.target, ast.Name):
                        members.add((st.target.id, st.lineno))
                    elif isinstance(st, ast.Assign):
                        for t in st.targets:
                            if isinstance(t, ast.Name):
                                members.add((t.id, st.lineno))
        member_lines = {}
        for name, line in members:
            member_lines.setdefault(line, set()).add(name)
        for st, s in p.name_tokens():
            if p.is_attr(st) and s in pairs.values() and not FORCE:
                sys.exit(f"{f.relative_to(TOP)}:{st[0]}: .{s} stands there already")
            if s in pairs and (p.is_attr(st) or st in kwpos or (
                    s in member_lines.get(st[0], ()) and re.match(rf"\s*(def |async def )?{s}\b", p.lines[st[0] - 1]))):
                spots[st] = (s, pairs[s])
        if spots:
            write(f, replace(text, spots))
            total += len(spots)
    print(f"{pairs}: {total} places")


def do_members(jobs):
    """jobs: list of (path, class, pairs)."""
    lock_mypy = open("/tmp/ren-mypy.lock", "w")
    fcntl.flock(lock_mypy, fcntl.LOCK_EX)
    base = mypy()
    by_old, total = {}, 0
    for path, cls, pairs in jobs:
        f = TOP / path
        p = Positions(f.read_text())
        node = function_node(p.tree, cls)
        defined = []
        for st in node.body:
            if isinstance(st, (ast.FunctionDef, ast.AsyncFunctionDef)):
                defined.append((st.name, st.lineno))
            elif isinstance(st, ast.AnnAssign) and isinstance(st.target, ast.Name):
                defined.append((st.target.id, st.lineno))
            elif isinstance(st, ast.Assign) and isinstance(st.targets[0], ast.Name):
                defined.append((st.targets[0].id, st.lineno))
        have = {name for name, _ in defined}
        if missing := set(pairs) - have:
            print(f"SKIPPED {path} {cls}: does not define {missing}")
            continue
        if (clash := set(pairs.values()) & have) and not FORCE:
            print(f"SKIPPED {path} {cls}: has {clash} already")
            continue
        spots = {}
        for name, line in defined:
            if name in pairs:
                spots[(line, p.lines[line - 1].index(name))] = (name, pairs[name])
        for st, s in p.name_tokens():
            if node.lineno <= st[0] <= node.end_lineno and s in pairs and p.is_attr(st):
                pre = p.lines[st[0] - 1][: st[1]].rstrip()[:-1].rstrip()
                if re.search(r"\b(self|cls)$", pre):
                    spots[st] = (s, pairs[s])
        write(f, replace(p.text, spots))
        total += len(spots)
        for old, new in pairs.items():
            by_old.setdefault(old, {})[cls.split(".")[-1]] = new
    for _ in range(6):
        errors = mypy()
        todo = {}
        for file, line, col, msg in errors - base:
            m = re.search(r'has no attribute "(\w+)"', msg) or re.search(r'Unexpected keyword argument "(\w+)"', msg)
            if m and m.group(1) in by_old:
                choice = by_old[m.group(1)]
                named = [new for cls, new in choice.items() if re.search(rf"\b{cls}\b", msg)]
                news = set(named or choice.values())
                if len(news) == 1:
                    todo.setdefault(file, []).append((int(line), int(col) - 1, m.group(1), news.pop()))
        count = 0
        for file, places in todo.items():
            g = TOP / file
            q = Positions(g.read_text())
            sp, kw = {}, keyword_positions(q)
            for line, col, old, new in places:
                best = [st for st, s in q.name_tokens() if s == old and st >= (line, col) and (q.is_attr(st) or st in kw)]
                if best:
                    sp[min(best)] = (old, new)
            if sp:
                write(g, replace(q.text, sp))
                count += len(sp)
        total += count
        if not count:
            break
    left = errors - base
    print(f"{len(jobs)} classes: {total} places; new mypy errors left: {len(left)}")
    for k in sorted(left)[:40]:
        print("  ", *k)


def mypy():
    out = subprocess.run([".venv/bin/dmypy", "run", "--", "riskrank", "tests", "--show-column-numbers", "--no-error-summary", "--hide-error-context", "--explicit-package-bases"],
                         capture_output=True, text=True).stdout
    got = set()
    for line in out.splitlines():
        m = re.match(r"([^:]+):(\d+):(\d+): error: (.*)", line)
        if m:
            got.add(m.groups())
    return got


def do_module(old, new):
    old, new = old.rstrip("/"), new.rstrip("/")
    o, n = Path(old), Path(new)
    is_pkg = (TOP / o).is_dir()
    (TOP / n).parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "mv", old, new], check=True)
    om = ".".join(o.with_suffix("").parts if not is_pkg else o.parts)
    nm = ".".join(n.with_suffix("").parts if not is_pkg else n.parts)
    op, ol = om.rsplit(".", 1)
    np_, nl = nm.rsplit(".", 1)
    count = 0
    for f in files():
        text = f.read_text()
        t = re.sub(rf"(?<![\w.]){re.escape(om)}(?![\w])", nm, text)
        # from parent import module
        if re.search(rf"from {re.escape(op)} import", t):
            tree = ast.parse(t)
            p = Positions(t)
            sp, used = {}, False
            for node in ast.walk(tree):
                if isinstance(node, ast.ImportFrom) and node.module == op:
                    for a in node.names:
                        if a.name == ol:
                            pos = (a.lineno, char_col(p.lines, a.lineno, a.col_offset))
                            if np_ != op:
                                print(f"note: {f.relative_to(TOP)}: from {op} import {ol}: edit by hand")
                                continue
                            sp[pos] = (ol, nl)
                            used = used or a.asname is None
            if used:
                kw = keyword_positions(p)
                for st, s in p.name_tokens():
                    if s == ol and not p.is_attr(st) and st not in kw:
                        sp[st] = (ol, nl)
            if sp:
                t = replace(t, sp)
        if t != text:
            write(f, t)
            count += 1
    others = subprocess.run(["git", "ls-files"], capture_output=True, text=True).stdout.split("\n")
    for name in others:
        if name.endswith((".toml", ".md", ".yml", ".yaml", ".cfg", ".in", ".txt")) or name in ("Makefile",):
            g = TOP / name
            if not g.is_file():
                continue
            try:
                text = g.read_text()
            except UnicodeDecodeError:
                continue
            t = re.sub(rf"(?<![\w.]){re.escape(om)}(?![\w])", nm, text)
            t = re.sub(rf"(?<![\w./]){re.escape(old)}(?![\w])", new, t)
            if t != text:
                g.write_text(t)
                count += 1
    print(f"{om} -> {nm}: {count} files; grep -rn '{o.name}' for strings that name the path")


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    lock = open(str(TOP / ".git" / "ren.lock"), "w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    verb, args = sys.argv[1], sys.argv[2:]
    if verb == "batch":
        jobs = []
        for line in Path(args[0]).read_text().splitlines():
            words = line.split("#")[0].split()
            if not words:
                continue
            try:
                if words[0] == "members":
                    jobs.append((words[1], words[2], dict(x.split("=") for x in words[3:])))
                else:
                    run(words[0], words[1:])
            except SystemExit as e:
                print(f"SKIPPED {line}: {e}")
            except Exception as e:
                print(f"SKIPPED {line}: {type(e).__name__} {e}")
        if jobs:
            do_members(jobs)
        return
    run(verb, args)


def run(verb, args):
    def pairs(items):
        d = dict(x.split("=") for x in items)
        for n in d.values():
            if not n.isidentifier():
                sys.exit(f"{n} is no identifier")
        return d
    if verb == "module":
        do_module(*args)
    elif verb == "names":
        do_names(args[0], pairs(args[1:]))
    elif verb == "locals":
        do_locals(args[0], args[1], pairs(args[2:]))
    elif verb == "members":
        do_members([(args[0], args[1], pairs(args[2:]))])
    elif verb == "attr":
        roots = ROOTS
        if "--in" in args:
            i = args.index("--in")
            roots, args = args[i + 1:], args[:i]
        do_attr(pairs(args), roots)
    elif verb == "file":
        f = TOP / args[0]
        text = f.read_text()
        p = Positions(text)
        pr = pairs(args[1:])
        have = {s for _, s in p.name_tokens()}
        for old, new in pr.items():
            if new in have and not FORCE:
                sys.exit(f"{new} stands there already")
        spots = {st: (s, pr[s]) for st, s in p.name_tokens() if s in pr}
        write(f, replace(text, spots))
        print(f"{len(spots)} tokens")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
