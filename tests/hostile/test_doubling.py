"""Captions, references, labels, lists, options and ids from 1 000 to 16 000, for all who read them.

Every reader is given every kind of text. A metric is given all kinds where it is the first to read
a place in its own way, and a few of them everywhere.
"""

import json
import subprocess
import sys

import pytest
from hostile.growth import grows_linearly, mark, peak

from vifidel_eval import VifidelError, content_words
from vifidel_eval.annotations import clean_label, read_objects
from vifidel_eval.annotations.labels import nfc
from vifidel_eval.annotations.tags import MOST_WORDS
from vifidel_eval.captions import read_results
from vifidel_eval.captions.generated import read_answer
from vifidel_eval.captions.rows import MOST_CHARACTERS, make_rows
from vifidel_eval.explain.sentences import inventions_in
from vifidel_eval.io import caches as remembered
from vifidel_eval.io.caches import ENTRY, MOST, Remembered
from vifidel_eval.plugins.ngrams import Bleu, Cider, RougeL
from vifidel_eval.scorers import Vifidel, VifidelD, VifidelH, VifidelPRF, Wmd
from vifidel_eval.scorers.chair import Chair
from vifidel_eval.scorers.registry import METRICS
from vifidel_eval.words.english import drop_incomplete
from vifidel_eval.words.mentions import MentionFinder
from vifidel_eval.words.synonyms import class_names, coco_synonyms, read_classes
from vifidel_eval.words.tokenization import PythonTokenizer, Tokenization

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::vifidel_eval.VifidelWarning"),
]

TOKENS = Tokenization(PythonTokenizer())
SCORERS = {
    "VIFIDEL": Vifidel(),
    "VIFIDEL-PRF": VifidelPRF(),
    "VIFIDEL-H": VifidelH(),
    "VIFIDEL-D": VifidelD(),
    "WMD": Wmd(),
    "WMD-worst": Wmd("worst"),
    "WMD-mean": Wmd("mean"),
    "BLEU": Bleu(TOKENS),
    "ROUGE_L": RougeL(TOKENS),
    "CIDEr": Cider(TOKENS),
    "CHAIR": Chair(),
    "CHAIR without what is incomplete": Chair(drop_incomplete=True),
    "CHAIR with a long list": Chair(synonyms=class_names()),
}
# Java's programs and networks, whose time is not this package's.
ELSEWHERE = {"CLIPScore", "METEOR", "SPICE", "LM", "TIGEr", "ViLBERTScore"}

UNITS = [
    *("_", "a_", "\u0301\u0323", "+", ".", "a.", "(", "a (", "<a", "www.", "a@", "a@b-", "n't"),
    *("'", "ca ", "1:", "1,", "&#1", "\u4e2d", "\u03a3\u0301", "\ud800", " ", "\0", "seat "),
    *("toilet seat ", "teddy bear ", "hot ", "baby and ", "orange ", "a.\t", ".)", "1.\u00a0"),
    *("a dog. ", "\n \t", "zebra_", "no dog or cat, ", "a's ", "\u2026", " -- "),
]


# Of the metrics that read a place in one way, one is given every kind of text.
READERS = {
    "captions": ["VIFIDEL", "VIFIDEL-PRF", "VIFIDEL-H", "CIDEr", "CHAIR with a long list"],
    "references": ["VIFIDEL", "VIFIDEL-PRF", "ROUGE_L", "CHAIR"],
}
# The others get these.
FEW = ["a_", "toilet seat ", "a dog. "]


def crossed(place):
    """Return a mark for a test of the metrics with the texts that each is given in a place."""
    return pytest.mark.parametrize(
        ("name", "unit"),
        [(name, unit) for name in SCORERS for unit in (UNITS if name in READERS[place] else FEW)],
    )


# What language models write around captions, and say instead of them.
ANSWERS = [
    *("<think>", "</think>", "<think ", "</s>", "</answer> ", "[THINK ", "<|channel|>a"),
    *("<|im_start|>\n", "\nUSER: a", "<answer>a", "\\boxed{", "```\n", "here is a caption: "),
    *("I'm sorry ", "sorry ", "I really ", ", the", "I can not see the image "),
]


@pytest.mark.parametrize("before", ["", "I'm sorry, I can not "])
@pytest.mark.parametrize("unit", [*ANSWERS, *UNITS])
def test_an_answer(unit, before):
    grows_linearly(lambda size: lambda: read_answer(before + unit * (size // len(unit))))


def test_every_metric_is_measured():
    METRICS.load()
    measured = {name.partition(",")[0].partition(" ")[0] for name in SCORERS}
    assert measured | ELSEWHERE >= set(METRICS)


def text(unit, size):
    """Return a text of about `size` characters of which no part has been read before."""
    own = mark()
    return f"{own}{unit * (size // len(unit))} {own}"


def scored(scorer, **given):
    columns = {"captions": ["a dog on a bench"], "objects": [["dog", "bench"]]}
    columns |= {"references": [["a dog sits on a bench", "the dog"]]} | given
    return lambda: scorer.score_columns(**columns)


@crossed("captions")
def test_a_caption(name, unit):
    grows_linearly(lambda size: scored(SCORERS[name], captions=[text(unit, size)]))


@crossed("references")
def test_a_reference(name, unit):
    grows_linearly(lambda size: scored(SCORERS[name], references=[[text(unit, size)]]))


@pytest.mark.parametrize("name", SCORERS)
def test_the_number_of_references(name):
    # Different ones, of the same words: transport takes them one by one.
    def score(size):
        own = mark()
        return scored(
            SCORERS[name], references=[[f"{own} dog " + "the " * (n % 7) for n in range(size)]]
        )

    grows_linearly(score, 100, 1600)


def test_memory_of_many_words_against_many_references():
    caption, references = ([f"{mark()}" for _ in range(n)] for n in (500, 2000))
    given = {"captions": [" ".join(caption)], "references": [references]}
    # A million pairs of words, at 100 bytes each.
    assert peak(lambda _: scored(SCORERS["VIFIDEL-PRF"], **given), 0) < 50 << 20


def test_memory_of_the_largest_transport():
    pytest.importorskip("resource", reason="needs POSIX")
    code = (
        "import resource; from vifidel_eval import Vifidel\n"
        "of = lambda name: [f'{name}{n}x' for n in range(2000)]\n"
        "Vifidel().score([' '.join(of('w'))], objects=[of('v')])\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) * (1 if sys.platform == "darwin" else 1024) < 1 << 30


# With the references and labels of `scored`, none of it is in the image.
ABSENT = ["zebra ", "a zebra. ", "no zebra, ", "hot dog ", "bike ", "zebra's "]
# Longer than what is remembered, with the bound below.
LONG = 2000, 32_000


@pytest.fixture
def little_remembered(monkeypatch):
    """Remember no text that is measured, nor all sentences of the smaller one: only words."""
    monkeypatch.setattr(remembered, "MOST", 1 << 11)


@pytest.mark.usefixtures("little_remembered")
@pytest.mark.parametrize("unit", ABSENT)
@pytest.mark.parametrize("name", READERS["captions"])
def test_a_long_caption_of_what_is_not_in_the_image(name, unit):
    grows_linearly(lambda size: scored(SCORERS[name], captions=[text(unit, size)]), *LONG)


def of_inventions(scorer, rows):
    for (part,) in scorer.explained([rows]):
        list(inventions_in("system", part))


EXPLAINED = {
    "explanations": lambda scorer, rows: list(scorer.explain_rows(rows)),
    "inventions": of_inventions,
    "sentences": lambda scorer, rows: scorer.judge_sentences(rows),
    "words": lambda scorer, rows: scorer.word_supports(rows),
}
OF_ALL_TEXTS = [("explanations", "VIFIDEL"), ("inventions", "CHAIR"), ("sentences", "VIFIDEL-PRF")]
OF_WHAT_IS_ABSENT = [
    *(("explanations", "VIFIDEL-PRF"), ("explanations", "CHAIR"), ("inventions", "VIFIDEL-H")),
    *(("words", "VIFIDEL-PRF"), ("words", "VIFIDEL-H")),
]


@pytest.mark.usefixtures("little_remembered")
@pytest.mark.parametrize(
    ("kind", "name", "unit"),
    [(*pair, unit) for pair in OF_ALL_TEXTS for unit in [*ABSENT, *UNITS]]
    + [(*pair, unit) for pair in OF_WHAT_IS_ABSENT for unit in ("no zebra, ", "bike ")],
)
def test_what_is_said_of_a_caption(kind, name, unit):
    sizes = LONG if unit in ABSENT else (1000, 16_000)

    def explain(size):
        captions = [text(unit, size)]
        rows = make_rows(captions, [7], [["a dog on a bench"]], [{"dog": 1, "bench": 1}])
        return lambda: EXPLAINED[kind](SCORERS[name], rows)

    grows_linearly(explain, *sizes)


LABELS = {
    "different": lambda own, n: f"{own}{n}",
    "that begin alike": lambda own, n: f"{own} red red red {n}",
    "the same": lambda own, n: own,
}


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("name", SCORERS)
def test_the_number_of_labels(name, kind):
    """Up to 1 600: metrics on word vectors take no more than 2 000 different ones."""

    def score(size):
        own = mark()
        return scored(SCORERS[name], objects=[[LABELS[kind](own, n) for n in range(size)]])

    grows_linearly(score, 100, 1600)


@pytest.mark.parametrize("name", SCORERS)
def test_labels_that_begin_as_the_caption_does(name):
    """Names are as long as labels may be, and every place of the caption may begin each."""

    def score(size):
        labels = [f"{'red ' * (MOST_WORDS - 1)}{n}" for n in range(20)]
        return scored(SCORERS[name], objects=[labels], captions=[text("red ", size)])

    grows_linearly(score)


@pytest.mark.parametrize("name", SCORERS)
def test_the_number_of_rows(name):
    def score(size):
        own = mark()
        return scored(
            SCORERS[name],
            captions=[f"a dog on a {own}{n % 50}" for n in range(size)],
            objects=[["dog", f"{own} {n % 50}"] for n in range(size)],
            references=[["a dog", f"{own} {n % 50}"] for n in range(size)],
        )

    grows_linearly(score, 250, 4000)


@pytest.mark.parametrize("kind", ["classes", "names of a class", "names that begin alike"])
def test_a_list_of_classes(tmp_path, kind):
    def read(size):
        own, path = mark(), tmp_path / mark()
        names = [f"{own} hot hot {n}" if "alike" in kind else f"{own}{n}" for n in range(size)]
        path.write_text(("\n" if kind == "classes" else ", ").join(names))
        return lambda: MentionFinder(read_classes(path)).find(f"a {own}1 and {own} hot hot 1")

    grows_linearly(read)


COCO = MentionFinder(coco_synonyms())
READ = {
    "content words": content_words,
    "tokens": lambda said: PythonTokenizer().tokenize({1: [said]}),
    "labels": clean_label.__wrapped__,
    "composed form": nfc,
    "sentences that have no end": drop_incomplete,
    "mentions of COCO's categories": COCO.find,
    "mentions": MentionFinder(class_names()).find,
    "claims": lambda said: COCO.read(said, ()),
}


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("reader", READ)
def test_readers_of_captions(reader, unit):
    def read(size):
        message = text(unit, size)
        return lambda: READ[reader](message)

    grows_linearly(read, 4000, 64_000)


@pytest.mark.parametrize("of_id", ["0", "1"], ids=["letters and digits", "digits"])
def test_long_ids_of_results(tmp_path, of_id):
    """Of the layouts, `test_doubling_formats` has each."""

    def read(size):
        path, own = tmp_path / mark(), "" if of_id == "1" else mark()
        ids = [f"{own}{of_id * size}{n}" for n in range(3)]
        path.write_text(json.dumps(dict.fromkeys(ids, f"a dog {mark()}")))
        return lambda: read_results(path)

    grows_linearly(read)


OBJECTS = {
    "long ids": lambda size: {f"{mark()}{'0' * size}{n}": ["dog"] for n in range(3)},
    "counts": lambda size: {"1": {f"{mark()} {n}": n for n in range(size)}},
    "nested XML": lambda size: (
        f"<annotation>{'<object><name>dog</name>' * size}{'</object>' * size}</annotation>"
    ),
}


@pytest.mark.parametrize("kind", OBJECTS)
def test_objects(tmp_path, kind):
    """Of the formats, `test_doubling_formats` has each."""

    def read(size):
        content, path = OBJECTS[kind](size), tmp_path / mark()
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return lambda: read_objects(path).signature()

    grows_linearly(read)


def test_captions_of_many_different_words_are_refused_soon():
    def score(size):
        caption, own = " ".join(f"{n:x}" for n in range(16, 16 + size)), mark()
        return lambda: refused_for(f"{caption} {own}", "different words; metrics on word vectors")

    grows_linearly(score, 2100, 19_000)
    refused_for("word " * 50_000, f"at most {MOST_CHARACTERS} are read")


def refused_for(caption, said):
    with pytest.raises(VifidelError, match=said):
        Vifidel().score([caption], objects=[["dog", "cat", "car"]])


def test_what_is_remembered_is_bounded_by_its_texts():
    """Of texts of any length, no more characters stay than the bound, and the results are right."""
    for length in (1, 1000, MOST_CHARACTERS):
        upper = Remembered(str.upper)
        for n in range(3 * MOST // (length + ENTRY) + 2):
            assert upper[f"{n}{'a' * length}"] == f"{n}{'A' * length}"
            if n % 1000 == 0:
                assert sum(len(key) + ENTRY for key in upper) <= MOST
        assert sum(len(key) + ENTRY for key in upper) <= MOST
