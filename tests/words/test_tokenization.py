import sys

import pytest
from fake_java import is_running, put_java
from host_metrics import stock_tokens

from vifidel_eval import MetricUnavailable
from vifidel_eval.plugins import java
from vifidel_eval.plugins.java import PtbTokenizer
from vifidel_eval.words.tokenization import PythonTokenizer, Tokenization, tokenizer

on_posix = pytest.mark.skipif(sys.platform == "win32", reason="puts a script on the PATH")

KINDS = [pytest.param(PtbTokenizer, marks=pytest.mark.java), PythonTokenizer]
LINE_BREAKS = "\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029"
CAPTIONS = {
    7: ["A man isn't riding his bicycle (red).", "It's a hot-dog, on St. John's Ave."],
    "b": ["Ein M\u00e4dchen im Caf\u00e9 \u4e2d\u6587", "\U0001f600 smile!"],
    3: ["", "...", "the end of the U.S."],
}


@pytest.mark.java
def test_ptb_gives_the_tokens_of_pycocoevalcap():
    tokens = PtbTokenizer().tokenize(CAPTIONS)
    assert tokens == stock_tokens(CAPTIONS)
    assert list(tokens) == [7, "b", 3]
    assert tokens[3] == ["", "", "the end of the u.s."]


@pytest.mark.java
@pytest.mark.parametrize(("following", "last"), [("the dog", "b."), ("The dog", "b")])
def test_the_next_caption_decides_about_an_abbreviation_as_in_pycocoevalcap(following, last):
    """docs/metrics.md says so; without Java each caption is read for itself."""
    captions = {1: ["a train at platform b."], 2: [following]}
    tokens = PtbTokenizer().tokenize(captions)
    assert tokens == stock_tokens(captions) == {1: [f"a train at platform {last}"], 2: ["the dog"]}
    assert PythonTokenizer().tokenize(captions)[1] == ["a train at platform b"]


@pytest.mark.parametrize("kind", KINDS)
def test_captions_with_line_breaks_stay_one_row(kind):
    captions = {n: [f"a dog{char}runs", f"row {n}"] for n, char in enumerate(LINE_BREAKS)}
    captions[99] = ["\n", "last\r\n"]
    tokens = kind().tokenize(captions)
    assert tokens == {
        **{n: ["a dog runs", f"row {n}"] for n in range(len(LINE_BREAKS))},
        99: ["", "last"],
    }


@pytest.mark.parametrize("kind", KINDS)
def test_images_without_captions_and_halves_of_characters_keep_their_place(kind):
    assert kind().tokenize({}) == {}
    assert kind().tokenize({1: []}) == {1: []}
    tokens = kind().tokenize({1: ["a \ud83d dog"], 2: [], 3: ["", "a cat"]})
    assert (list(tokens), tokens[2], tokens[3]) == ([1, 2, 3], [], ["", "a cat"])
    tokens[1][0].encode("utf-8")  # METEOR's pipe takes nothing else


@pytest.mark.java
def test_ptb_reads_every_script_in_every_locale(monkeypatch):
    expected = PtbTokenizer().tokenize(CAPTIONS)
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Dfile.encoding=ISO-8859-1")
    assert PtbTokenizer().tokenize(CAPTIONS) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_several_are_tokenised_as_if_each_were_alone(kind):
    several = [
        CAPTIONS,
        {1: ["plan b."]},  # before a capital its full stop would end a sentence
        {1: ["A dog.", "plan b."]},
        {1: ["A dog."]},
        {},
        {1: [], 2: [""]},
        {1: ["..."]},
        {1: ["last line\r\n", "the end \ud83d"]},
    ]
    tokens = kind().tokenize_each(several)
    assert tokens == [kind().tokenize(captions) for captions in several]
    assert kind().tokenize_each([]) == []


TOKENS = {
    1: ["a black-and-white dog 's 2 toys do n't move", "o'clock on the u.s. side", ""],
    2: ["8th st. and 22\xa03/4 st -lrb- left -rrb-"],
}


@pytest.mark.java
def test_tokens_are_as_they_are(monkeypatch):
    stock = stock_tokens(TOKENS)  # which tokenises them again
    monkeypatch.setattr(java, "run_java", None)
    assert PtbTokenizer().tokenize(TOKENS) == PythonTokenizer().tokenize(TOKENS) == TOKENS == stock


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("caption", "tokens"),
    [
        ("a dog , a cat", "a dog a cat"),
        ("a man's dog", "a man 's dog"),
        ("one cannot see", "one can not see"),
        ("a\xa0dog", "a dog"),
        (" a dog", "a dog"),
        ("\u00dcber", "\u00fcber"),
    ],
)
def test_what_is_written_is_tokenised(kind, caption, tokens):
    several = kind().tokenize_each([{1: [caption, "a dog"]}, {1: ["a dog"]}])
    assert several == [{1: [tokens, "a dog"]}, {1: ["a dog"]}]


@pytest.mark.java
def test_ptb_refuses_a_wrong_number_of_rows(monkeypatch):
    def answer(java, arguments, what, seconds, folder):
        (folder / "0.tok").write_bytes(b"a dog\nruns\na cat")

    monkeypatch.setattr(java, "run_java", answer)
    with pytest.raises(MetricUnavailable, match="2 captions gave 3 rows"):
        PtbTokenizer().tokenize({1: ["A dog"], 2: ["A cat"]})


@on_posix
def test_java_that_fails_is_named(tmp_path, monkeypatch):
    script = "sys.stderr.write('java.lang.OutOfMemoryError: heap\\n\\tat x\\n'); sys.exit(3)"
    put_java(tmp_path, monkeypatch, script)
    with pytest.raises(MetricUnavailable, match=r"exit status 3: java\.lang\.OutOfMemoryError"):
        PtbTokenizer().tokenize({1: ["A dog"]})


@on_posix
def test_java_that_hangs_is_killed(tmp_path, monkeypatch):
    pid = put_java(tmp_path, monkeypatch, "time.sleep(600)")
    monkeypatch.setattr(java, "PATIENCE", 2)
    with pytest.raises(MetricUnavailable, match="did not end within 2 seconds and was killed"):
        PtbTokenizer().tokenize({1: ["A dog"]})
    assert not is_running(pid)


@on_posix
def test_java_that_does_not_run_is_none(tmp_path, monkeypatch):
    program = tmp_path / "java"
    program.write_text("#!/bin/sh\necho 'No Java runtime present.' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MetricUnavailable, match=r"does not run \(No Java runtime present\.\)"):
        PtbTokenizer()
    assert tokenizer().name == "python"


def test_python_serves_where_there_is_no_java(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MetricUnavailable, match="needs Java, and no 'java' is on the PATH"):
        PtbTokenizer()
    assert isinstance(tokenizer(), PythonTokenizer)
    assert Tokenization().name == "python"


CONVENTIONS = [
    ("The dog isn't here; it can't be.", "the dog is n't here it ca n't be"),
    ("They'll say I'm o'clock's \u2019s", "they 'll say i 'm o'clock 's 's"),
    ("cannot gonna wanna gotta", "can not gon na wan na got ta"),
    ("a T-shirt, black/white (left) [x]", "a t-shirt black/white -lrb- left -rrb- -lsb- x -rsb-"),
    ("At 5:54pm or 12:30 on 3/4 St. N. Main", "at 5:54 pm or 12:30 on 3/4 st. n. main"),
    ("the U.S.A and a T.V.", "the u.s.a and a t.v."),
    ("$5 for 10% of #1 & more", "$ 5 for 10 % of # 1 & more"),
    ('He said "hi" -- wow... \u201cyes\u201d \u2014 no', "he said hi wow yes no"),
    ("caf\u00e9 \u4e2d\u6587 \U0001f600 na\u00efve", "caf\u00e9 \u4e2d\u6587 na\u00efve"),
    ("wow!! really?", "wow !! really"),
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_conventions_of_the_penn_treebank(kind):
    result = kind().tokenize_each([{1: [caption]} for caption, _ in CONVENTIONS])
    assert result == [{1: [tokens]} for _, tokens in CONVENTIONS]


def test_what_failed_is_not_tried_again_for_the_next_metric():
    class Failing:
        name, runs = "failing", 0

        def tokenize_each(self, several):
            self.runs += 1
            raise MetricUnavailable("no Java here.")

    failing = Failing()
    shared = Tokenization(failing)
    for _ in range(2):
        shared.prepare([{1: ["a"]}, {1: ["b"]}])
        for text in "ab":
            with pytest.raises(MetricUnavailable, match="no Java here"):
                shared.tokens({1: [text]})
    assert failing.runs == 1
