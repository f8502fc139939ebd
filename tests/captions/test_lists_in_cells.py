"""Lists in cells of CSV, TSV, Parquet and DataFrames: references, or a caption alone in one."""

import pytest

from vifidel_eval.captions import read_references, read_results, read_samples
from vifidel_eval.errors import CaptionError

pandas = pytest.importorskip("pandas")
REFERENCES = {1: ["a dog.", "a brown dog."], 2: ["it's a cat", 'a "big" cat']}
FRAME = pandas.DataFrame({"image_id": list(REFERENCES), "references": list(REFERENCES.values())})


@pytest.mark.parametrize("name", ["r.csv", "r.tsv", "r.parquet", "text.parquet", "r.jsonl"])
def test_files_that_pandas_writes_of_lists_have_all_references(tmp_path, name):
    path = tmp_path / name
    if name.endswith(".jsonl"):  # of a DataFrame that was read from CSV
        FRAME.astype({"references": str}).to_json(path, orient="records", lines=True)
    elif name == "text.parquet":
        FRAME.astype({"references": str}).to_parquet(path)
    elif name == "r.parquet":
        FRAME.to_parquet(path)
    else:
        FRAME.to_csv(path, index=False, sep="\t" if name == "r.tsv" else ",")
    assert read_references(path) == REFERENCES


@pytest.mark.parametrize("cell", ["['a dog.' 'a cat.']", "['a dog.', 'a c", "[a dog, a cat]"])
def test_a_list_that_cannot_be_read_is_refused_with_its_line(tmp_path, cell):
    path = tmp_path / "r.csv"
    path.write_text(f'image_id,caption\n1,a dog\n2,"{cell}"\n')
    with pytest.raises(CaptionError) as problem:
        read_references(path)
    assert str(problem.value).startswith(f"{path}: line 3 (image 2): {cell!r} looks like a list")


def test_several_captions_in_a_cell_are_samples(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("image_id,caption\n1,\"['a dog', 'a cat']\"\n")
    with pytest.raises(
        CaptionError, match=r"line 2 \(image 1\): 2 captions for one image; keep one"
    ):
        read_results(path)
    assert read_samples(path) == {1: ["a dog", "a cat"]}
