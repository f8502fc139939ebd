"""Tables in an object store: a server that speaks S3, on this machine's loopback."""

import json
import logging

import pytest
from conftest import call, refused

pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
fs = pytest.importorskip("pyarrow.fs")

pytestmark = [pytest.mark.engine, pytest.mark.filterwarnings("ignore::DeprecationWarning")]

TABLE = {"caption": ["a dog", "a cat", None], "labels": [["dog"], [], ["cat"]], "id": [1, 2, 3]}


@pytest.fixture(scope="module")
def store():
    """Return the file system of a store, and what an address in it ends with."""
    server = pytest.importorskip("moto.server", reason="needs moto").ThreadedMotoServer(
        ip_address="127.0.0.1", port=0, verbose=False
    )
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "test")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        server.start()
        place = "http://{}:{}".format(*server.get_host_and_port())
        filesystem = fs.S3FileSystem(
            endpoint_override=place, region="us-east-1", allow_bucket_creation=True
        )
        filesystem.create_dir("bucket")
        table = pa.table(TABLE)
        parquet.write_table(table, "bucket/in/a.parquet", filesystem=filesystem)
        parquet.write_table(table, "bucket/in/x=1/b.parquet", filesystem=filesystem)
        with filesystem.open_output_stream("bucket/text/c.csv.gz", compression="gzip") as file:
            file.write(b'caption,labels,id\na dog,"[""dog""]",007\n')
        with filesystem.open_output_stream("bucket/lines/d.jsonl") as file:
            file.write(b'{"caption": "a dog", "labels": ["dog"], "id": 7}\n')
        yield filesystem, f"?endpoint_override={place}&region=us-east-1"
        server.stop()


NOBODY = "s3://bucket/in?endpoint_override=http://127.0.0.1:9"


def score(source, output, *arguments):
    return call("score-table", source, "--output", output, "--workers", "1", *arguments)


@pytest.mark.parametrize(
    ("path", "outputs", "ids"),
    [
        ("in", ["a.parquet", "x=1/b.parquet"], [1, 2, 3]),
        ("in/", ["a.parquet", "x=1/b.parquet"], [1, 2, 3]),
        ("in/a.parquet", ["a.parquet"], [1, 2, 3]),
        ("text/c.csv.gz", ["c.parquet"], ["007"]),
        ("lines", ["d.parquet"], [7]),
    ],
)
def test_files_and_folders(tmp_path, store, path, outputs, ids):
    result = score(f"s3://bucket/{path}{store[1]}", tmp_path / "out")
    assert result.exit_code == 0, result.output
    message = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert [file["output"] for file in message["files"]] == outputs
    for name in outputs:
        results = parquet.ParquetFile(tmp_path / "out" / name).read()
        assert results["id"].to_pylist() == ids
        assert results["VIFIDEL"][0].as_py() == 1.0


@pytest.mark.slow
def test_a_store_gives_the_bytes_of_a_folder(tmp_path, store):
    """By two processes, too."""
    (tmp_path / "in" / "x=1").mkdir(parents=True)
    for name in ("a.parquet", "x=1/b.parquet"):
        with store[0].open_input_stream(f"bucket/in/{name}") as file:
            (tmp_path / "in" / name).write_bytes(file.read())
    here = score(str(tmp_path / "in"), tmp_path / "here")
    there = score(f"s3://bucket/in{store[1]}", tmp_path / "there", "--workers", "2")
    assert (here.exit_code, there.exit_code) == (0, 0), there.output
    for name in ("a.parquet", "x=1/b.parquet", "manifest.json"):
        assert (tmp_path / "here" / name).read_bytes() == (tmp_path / "there" / name).read_bytes()


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("s3://bucket/gone{}", "no such file or directory; check the path"),
        ("s3://gone/in{}", "no such file or directory; check the path"),
        pytest.param(NOBODY, "check the path", marks=pytest.mark.slow),  # tried again and again
        ("s3://bucket/in{}&nonsense=1", "check the address"),
        ("s3:/bucket/in", "check the address"),
        ("http://127.0.0.1/a.parquet", "check the address"),
        ("az://bucket/a.parquet", "check the address"),
    ],
)
def test_addresses_that_lead_nowhere(tmp_path, store, address, sentence):
    refused(score(address.format(store[1]), tmp_path / "out"), sentence)
    assert not (tmp_path / "out").exists()


def test_a_secret_in_an_address_is_not_printed(tmp_path, store):
    place = store[1].replace("?", "?allow_bucket_creation=false&")
    result = score(f"s3://somebody:verysecret@bucket/gone{place}", tmp_path / "out")
    assert result.exit_code == 1
    assert "s3://***@bucket/gone" in result.stderr
    assert "verysecret" not in result.output + result.stderr
