"""Environment of a run, apart from its inputs and outputs."""


def test_the_configuration_that_was_read_is_not_replaced(run, write, table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for text in ("order = 1\n", "# nothing\n"):
        write("riskrank.toml", text)
        for words in (("rank", "scores.csv", "--no-test"), ("check", "scores.csv"), ("schema", "rank")):
            outcome = run(*words, "-o", "riskrank.toml", *(() if "schema" in words else ("--format", "json")))
            assert outcome.status == 2
            assert outcome.stderr.splitlines()[1].startswith("found: the input riskrank.toml")
            assert (tmp_path / "riskrank.toml").read_text() == text
    assert run("schema", "rank", "-o", "riskrank.toml", "--config", "none").status == 0
