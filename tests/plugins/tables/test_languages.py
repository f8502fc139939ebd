"""What the command says of the language of captions, from the first rows of files."""

import pytest

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

from table_runs import done  # noqa: E402

GERMAN = ["Ein Hund läuft mit dem Ball über die Wiese.", "Eine Katze sitzt auf dem Sofa."]


@pytest.mark.parametrize(
    ("captions", "sentence"),
    [
        (GERMAN * 5, "seem to be German"),
        (["犬がdogと草原を走る"] * 5, "have no blanks between words"),
        (["a dog runs on the grass with a ball"] * 5, ""),
    ],
)
def test_a_language_that_is_not_english_is_warned_of(tmp_path, captions, sentence):
    source = tmp_path / "a.parquet"
    parquet.write_table(
        pa.table({"caption": captions, "labels": [["dog"]] * len(captions)}), source
    )
    told = done(source, "--output", tmp_path / "out").stderr
    assert (f"captions of {source} {sentence}" if sentence else "") in told
    assert ("captions of" in told) == bool(sentence)
