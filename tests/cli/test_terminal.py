"""Output on terminals: widths, encodings, colour, and names that look like markup."""

import re

import pytest

LONG = (
    "meta-llama/Llama-3.1-70B-Instruct-Turbo",
    "mistralai/Mixtral-8x22B-Instruct-v0.1",
    "a b c " * 9 + "end",
)
COMMANDS = [["rank"], ["dominance"], ["portfolio"], ["portfolio", "--summary"], ["check"]]


@pytest.fixture
def show(run, quick):
    """Run a command for a terminal of the given width and return its output."""

    def run_visibly(command, path, *args, width=80, tty=True, status=0, **variables) -> str:
        quickly = [*quick, "-q"] if command[0] in ("rank", "dominance") else []
        variables = {"COLUMNS": str(width), "NO_COLOR": "1"} | variables
        outcome = run(*command, path, *quickly, *args, tty=tty, variables=variables)
        assert (outcome.status, outcome.stderr) == (status, "")
        return outcome.stdout

    return run_visibly


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_no_line_is_wider_than_the_terminal(show, write, make_scores, command):
    path = write("t.csv", make_scores(models=(*LONG, "A"), metrics=("acc", "a rather long metric name")))
    text = show(command, path, width=60)
    # A command to copy is not wrapped, because it would not run in two pieces.
    assert max(len(line) for line in text.splitlines() if not line.startswith("   riskrank ")) <= 60
    # Names are cut next to charts only; the numbers above have the full names.
    assert all(re.search("[●▁-█]", line) for line in text.splitlines() if "…" in line)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_narrow_terminal_shows_the_same_as_a_wide_terminal(show, write, make_scores, command):
    """A narrow terminal shows each table cell in full or wrapped."""
    path = write("t.csv", make_scores(models=("A", "some-model", "C", "D", "E")))
    wide, narrow = show(command, path, width=None), show(command, path, width=60)
    assert {word for word in wide.split() if set(word) != {"─"}} <= set(narrow.split())


def test_long_names_are_folded_not_cut(show, write, make_scores):
    path = write("t.csv", make_scores(models=LONG))
    for width in (60, 80):
        text = show(["rank", "--explain"], path, width=width)
        head = re.search(r"^ rank  (model\s+)\S", text, flags=re.MULTILINE)
        lines = text[head.end() :].splitlines()[2:]
        width_of_names = len(head[1]) - 1
        column = "".join(line[7 : 7 + width_of_names].rstrip() for line in lines)
        for name in LONG[:2]:
            assert name[:16] in text
            assert name[-4:] in "".join(column.split())
    wide = show(["rank"], path, width=200)
    assert all(name in wide for name in LONG)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_nothing_is_cut_or_folded_off_a_terminal(show, write, make_scores, command):
    models = ("x" * 150, "y" * 200, *LONG)
    path = write("t.csv", make_scores(models=models))
    text = show(command, path, tty=False, width=40)
    if command == ["portfolio"]:
        assert LONG[2] in text  # the first rows, by name
    elif command != ["check"]:
        assert all(name in text for name in models)
    assert "continued" not in text


def test_a_table_in_a_file_is_as_wide_as_off_a_terminal(run, write, quick, make_scores, tmp_path):
    path = write("t.csv", make_scores(models=LONG))
    run("rank", path, *quick, "-o", tmp_path / "r.txt", tty=True, variables={"COLUMNS": "40"})
    assert (tmp_path / "r.txt").read_text() == run("rank", path, *quick).stdout


def test_colour(run, table, quick):
    def coloured(*args, tty=True, **variables) -> bool:
        return (
            "\x1b["
            in run("rank", table, *quick, *args, tty=tty, variables={"TERM": "xterm"} | variables).stdout
        )

    assert coloured()
    assert not coloured(tty=False)
    assert coloured("--set", "color=always", tty=False)
    assert not coloured("--set", "color=never")
    assert not coloured(NO_COLOR="1")
    assert coloured(NO_COLOR="")
    assert coloured("--set", "color=always", NO_COLOR="1")
    assert not coloured(TERM="dumb")


def test_colour_changes_no_text(run, table, quick):
    output = run("rank", table, *quick, "--set", "color=always").stdout
    plain = [line.rstrip() for line in re.sub(r"\x1b\[[\d;]*m", "", output).splitlines()]
    assert plain == run("rank", table, *quick).stdout.splitlines()


@pytest.mark.parametrize("color", ["always", "never"])
def test_names_that_look_like_markup(run, write, quick, make_scores, color):
    names = ("[bold]x[/]", "[/red]", ":smile:", "a|b", "*b*_c_")
    path = write("t.csv", make_scores(models=names, metrics=("[red]m[/]",)))
    outcome = run("rank", path, *quick, "--set", f"color={color}", "--explain")
    assert outcome.status == 0
    text = re.sub(r"\x1b\[[\d;]*m", "", outcome.stdout)
    assert all(name in text for name in (*names, "R-SSD@[red]m[/]"))
    markdown = run("rank", path, *quick, "--format", "markdown").stdout
    rows = [line for line in markdown.splitlines() if line.startswith("|")]
    assert any(r"a\|b" in row for row in rows)
    assert any(r"\*b\*\_c\_" in row for row in rows)
    widths = {len(re.findall(r"(?<!\\)\|", row)) for row in rows}
    assert widths == {6, 12, 7}  # the first screen, 11 columns of the ranking, 6 of all methods side by side


@pytest.mark.slow
def test_an_ascii_terminal(run, write, quick, make_scores):
    names = ("modèle", "модель", "модела", "模型")
    path = write("t.csv", make_scores(models=names))
    chosen = ("--models", "modèle,модель,модела,模型", "--explain")
    outcome = run("rank", path, *quick, *chosen, encoding="ascii")
    assert outcome.status == 0
    assert outcome.stdout.isascii()
    assert outcome.stderr.isascii()
    for name in names:
        assert name.encode("ascii", "backslashreplace").decode() in outcome.stdout
    assert " eps " in outcome.stdout
    assert "?" not in outcome.stdout
    assert " ---" in outcome.stdout
    refused = run("rank", path, "--models", "модели", encoding="ascii")
    assert refused.status == 2
    assert "\\u043c" in refused.stderr
    for format in ("json", "csv", "markdown"):
        assert all(
            name.encode() in run("rank", path, *quick, "--format", format).stdout.encode() for name in names
        )


def test_data_formats_are_utf_8_whatever_the_terminal(run, write, quick, make_scores, tmp_path):
    path = write("t.csv", make_scores(models=("modèle", "B")))
    run("rank", path, *quick, "-o", tmp_path / "r.csv", encoding="ascii")
    assert "modèle" in (tmp_path / "r.csv").read_text(encoding="utf-8")


def test_wide_characters_keep_the_columns_straight(run, write, quick, make_scores):
    from rich.cells import cell_len

    path = write("t.csv", make_scores(models=("模型一", "B", "ab")))
    lines = run("rank", path, *quick).stdout.splitlines()
    rule = next(number for number, line in enumerate(lines) if line.startswith(" ──"))
    assert {cell_len(line) for line in lines[rule : rule + 4]} == {cell_len(lines[rule])}


def test_control_characters_do_not_reach_the_terminal(run, write, quick, make_scores):
    path = write("t.csv", make_scores(models=("a\x1b[2Jb", "c\nd", "e\tf")))
    outcome = run("rank", path, *quick, tty=True, variables={"NO_COLOR": "1", "COLUMNS": "100"})
    assert outcome.status == 0
    assert "\x1b" not in outcome.stdout
    assert "a\\x1b[2Jb" in outcome.stdout
    assert " c d " in outcome.stdout


def test_a_bar_on_a_terminal_only(run, table, quick, write):
    import io

    from riskrank.cli.environment import progress_bar

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    stream = Terminal()
    with progress_bar("resampling", stream) as move:
        move(1, 2)
    assert "resampling" in stream.getvalue()
    assert "resampling" not in run("rank", table, *quick).stderr


def test_per_metric_titles_name_the_metric(show, table):
    text = show(["rank"], table, "--per-metric", "--explain")
    assert "Ranking of acc, R-SSD@acc" in text
    assert "Ranking of f1, R-SSD@f1" in text


def test_check_describes_problems_in_words(run, write):
    outcome = run("check", write("t.csv", "model,sample,metric,score\nA,1,m,1\nA,2,m,3\nB,1,m,2\n"))
    assert outcome.status == 2
    assert "Error: " in outcome.stdout
    assert re.search(r"(?m)^ hint: ", outcome.stdout)


@pytest.mark.parametrize("command", ["rank", "dominance"])
def test_pictures_on_a_wide_terminal(run, table, quick, command):
    more = (*quick, "--explain")
    terminal = {"tty": True, "variables": {"COLUMNS": "200"}}
    wide = run(command, table, *more, **terminal).stdout
    assert "●" in wide
    assert ("significantly better than" in wide) == (command == "rank")
    assert run(command, table, *more, **terminal, encoding="ascii").stdout.isascii()
    narrow = run(command, table, *more, tty=True, variables={"COLUMNS": "80"}).stdout
    assert "●" not in narrow
    assert "●" not in run(command, table, *more).stdout
