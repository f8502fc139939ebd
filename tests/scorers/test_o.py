import numpy as np, pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prf_oracle import Piece, World, prf
from vifidel_eval.scorers import VifidelPRF
THINGS = "dog, puppy\ncat\nkite\nfox, vixen\nlamp\nhot dog\nmotorcycle\nbicycle, bike\n"
CLASS_OF = {
    **{name: name for name in ("dog", "cat", "kite", "fox", "lamp", "hot dog", "motorcycle")},
    **{"puppy": "dog", "vixen": "fox", "lamps": "lamp", "bicycle": "bicycle", "bike": "bicycle"},
}
COCO = {"dog", "cat", "kite", "hot dog", "motorcycle", "bicycle"}
#: Some names of things, and some other words, have no vector.
KNOWN = "dog puppy cat vixen lamp lamps hot motorcycle bike runs large brown".split()
UNKNOWN = "kite fox zorp".split()
OTHERS = ["runs", "large", "brown", "zorp"]
ROWS = np.random.default_rng(4).normal(size=(len(KNOWN), 3)).astype(np.float32)
WORLD = World(
    dict(zip(KNOWN, ROWS.astype(float), strict=True)), CLASS_OF, also={"bike": "motorcycle"}
)


@pytest.fixture(scope="module")
def vectors(make_vectors):
    return make_vectors(dict(zip(KNOWN, ROWS.tolist(), strict=True)))


@pytest.fixture(scope="module")
def things(tmp_path_factory):
    path = tmp_path_factory.mktemp("things") / "things.txt"
    path.write_text(THINGS, encoding="utf-8")
    return path


def mention(name):
    return Piece(f"the {name}", tuple(name.split()), CLASS_OF[name])


def denial(name):
    return Piece(f"without a {name}", tuple(name.split()), CLASS_OF[name], denied=True)


names = st.sampled_from(sorted(CLASS_OF))
pieces = st.one_of(names.map(mention), st.sampled_from([Piece(w, (w,)) for w in OTHERS]))
sentences = st.builds(
    lambda said, denied: (*said, *denied),
    st.lists(pieces, min_size=1, max_size=4),
    st.lists(names.map(denial), max_size=1),
)
some_texts = st.lists(sentences, max_size=3)
labels_ = st.dictionaries(
    st.sampled_from([*sorted(CLASS_OF), "large", "zorp"]), st.integers(0, 2), max_size=4
)
some_rows = st.lists(
    st.tuples(some_texts, labels_, st.lists(some_texts, max_size=4)), min_size=1, max_size=4
)


def written(text):
    return " ".join(" ".join(piece.text for piece in s).capitalize() + "." for s in text)


def looked_for(counts):
    """As docs/objects.md has it: zeros, else COCO's 80 if all labels are among them."""
    if 0 in counts.values():
        return {CLASS_OF.get(label, label) for label in counts}
    return COCO if counts and counts.keys() <= {*COCO} else None


def columns_of(scorer, rows):
    found = scorer.score_columns(
        [written(text) for text, _, _ in rows],
        objects=[labels for _, labels, _ in rows],
        references=[[written(r) for r in references] for _, _, references in rows],
    )
    return np.column_stack([found[f"VIFIDEL-{letter}"] for letter in "PRF"])


@settings(max_examples=400)
@given(some_rows)
def test_the_page_is_the_code(vectors, things, rows):
    scorer = VifidelPRF(vectors=vectors, things=things)
    columns = columns_of(scorer, rows)
    expected = [
        prf(WORLD, text, [label for label, n in of.items() if n], looked_for(of), references)
        for text, of, references in rows
    ]
    np.testing.assert_allclose(columns, expected, rtol=0, atol=1e-9)
    defined = columns[~np.isnan(columns)]
    assert ((defined >= 0) & (defined <= 1)).all()
    # A row's bits are its own.
    np.testing.assert_array_equal(columns_of(scorer, rows[:1]), columns[:1])
