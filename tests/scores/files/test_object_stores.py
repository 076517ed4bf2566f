"""Files in object stores are read like local files, against a local S3 server."""

import pytest

from riskrank.errors import InputError, UsageError
from riskrank.options.reading import ReadOptions
from riskrank.scores.files.paths import labelled_paths
from riskrank.scores.files.source import is_url, url_path
from riskrank.scores.table.score_table import read_scores
from tests.scores.comparison import assert_equal_tables


def test_addresses():
    assert is_url("s3://bucket/a.csv")
    assert not any(map(is_url, ("a.csv", "/a/b.csv", "new=s3://bucket/a.csv", "C:/a.csv", "-")))
    assert url_path("https://host/a.csv?version=1.0") == "/a.csv"
    assert url_path("s3://bucket/a?.csv") == "s3://bucket/a?.csv"
    assert labelled_paths("s3://bucket/lr=0.1/a.csv") == [(None, "s3://bucket/lr=0.1/a.csv")]
    assert labelled_paths("new=s3://bucket/a.csv") == [("new", "s3://bucket/a.csv")]


@pytest.fixture
def memory(write, long_frame):
    """Write the files to the in-memory file system of fsspec."""
    fsspec = pytest.importorskip("fsspec")
    store = fsspec.filesystem("memory")
    paths = {}
    for name, suffix in (("A", "csv"), ("B", "parquet"), ("C", "jsonl.gz")):
        path = write(f"{name}.{suffix}", long_frame.filter(model=name))
        with open(path, "rb") as file:  # noqa: PTH123
            store.pipe_file(f"/runs/{name}.{suffix}", file.read())
        paths[name] = f"memory://runs/{name}.{suffix}"
    yield paths
    store.rm("/runs", recursive=True)


def test_store_is_read_like_a_folder(write, long_frame, memory):
    expected = read_scores([write("t.csv", long_frame)])
    assert_equal_tables(read_scores(list(memory.values())), expected)
    assert_equal_tables(read_scores(["memory://runs/*"]), expected)
    table = read_scores([f"new={memory['A']}", memory["B"]])
    assert table.models == ("B", "new")
    assert table.inputs[0].path == memory["A"]
    chosen = ReadOptions(where="metric = 'acc'")
    assert_equal_tables(
        read_scores(["memory://runs/*"], chosen), read_scores([write("t.csv", long_frame)], chosen)
    )


@pytest.mark.parametrize(
    ("url", "error", "message"),
    [
        ("memory://runs/D.csv", InputError, "there is no such file"),
        ("memory://runs/D*.csv", InputError, "no file matches the pattern"),
        ("memory://runs/t.sqlite", UsageError, "copy it here first"),
        ("memory://runs/unknown", InputError, "cannot detect the format from the suffix"),
        ("gopher://runs/a.csv", UsageError, "URLs cannot be read"),
    ],
)
def test_missing_objects_are_refused(memory, url, error, message):
    with pytest.raises(error, match=message):
        read_scores([url])


@pytest.fixture
def bucket(monkeypatch):
    """Create a bucket on a local server, addressed by the usual environment variable."""
    server_of = pytest.importorskip("moto.server")
    pytest.importorskip("s3fs")
    import boto3
    import fsspec

    server = server_of.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
    client = boto3.client("s3")
    client.create_bucket(Bucket="scores")
    yield client
    fsspec.get_filesystem_class("s3").clear_instance_cache()
    server.stop()


# boto3 and the server warn about the age of Python and of their own calls.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_s3(write, long_frame, bucket):
    for name, suffix in (("A", "csv"), ("B", "parquet"), ("C", "json")):
        frame = long_frame.filter(model=name)
        if suffix == "json":
            data = frame.write_json().encode()
        else:
            with open(write(f"{name}.{suffix}", frame), "rb") as file:  # noqa: PTH123
                data = file.read()
        bucket.put_object(Bucket="scores", Key=f"runs/day=1/{name}.{suffix}", Body=data)
    expected = read_scores([write("t.csv", long_frame)])
    assert_equal_tables(read_scores(["s3://scores/runs/**/*"]), expected)
    table = read_scores(["new=s3://scores/runs/day=1/A.csv", "s3://scores/runs/day=1/B.parquet"])
    assert table.models == ("B", "new")
    with pytest.raises(InputError, match="there is no such file"):
        read_scores(["s3://scores/runs/none.csv"])
    with pytest.raises(InputError, match="there is no such file"):
        read_scores(["s3://nobody/none.csv"])
