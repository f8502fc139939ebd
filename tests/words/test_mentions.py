import pytest

from vifidel_eval.words.mentions import MentionFinder
from vifidel_eval.words.synonyms import ClassList, coco_synonyms

# A list in the published program's way, and the same names in ours.
CLASSES = (
    ("person", "man", "baby", "passenger", "adult"),
    ("bicycle", "bike"),
    ("motorcycle",),
    ("airplane", "jet"),
    ("bus",),
    ("train",),
    ("fire hydrant", "hydrant"),
    ("bird",),
    ("dog", "puppy"),
    ("bear",),
    ("tie", "bow", "bow tie"),
    ("tennis racket", "racket"),
    ("wine glass",),
    ("knife",),
    ("orange",),
    ("hot dog",),
    ("chair", "seat"),
    ("dining table", "table"),
    ("toilet",),
    ("teddy bear",),
)
PUBLISHED = MentionFinder(ClassList("small", CLASSES, published=True))
OURS = MentionFinder(ClassList("small", CLASSES, no_class=("bus stop", "glasses")))


def names(finder, caption):
    return [mention.text for mention in finder.find(caption).found]


@pytest.mark.parametrize(
    ("caption", "expected"),
    [
        ("A man on a bike", ["man", "bike"]),
        ("A MAN and men", ["man", "man"]),  # repeats count
        ("Two dogs, geese and knives.", ["dog", "knife"]),
        ("A dog. A puppy", ["dog", "puppy"]),  # sentences are split first
        ("a fire hydrant", ["fire hydrant"]),
        ("a hydrant", ["hydrant"]),
        ("hot dogs", ["hot dog"]),
        ("a teddy bear", ["teddy bear"]),
        ("a baby bear and an adult bird", ["bear", "bird"]),
        ("a passenger jet, a passenger train", ["jet", "train"]),
        ("a train track", []),
        ("a toilet seat", ["toilet"]),
        ("a seat", ["seat"]),
        ("a toilet with its seat up", ["toilet"]),
        ("a wine glass", ["wine glass"]),  # by way of "wine glas"
        ("wine glasses", ["wine glass"]),
        ("nothing here", []),
        ("", []),
    ],
)
def test_rules_for_words_that_both_ways_share(caption, expected):
    assert names(PUBLISHED, caption) == expected
    assert names(OURS, caption) == expected


@pytest.mark.parametrize(
    ("caption", "published", "ours"),
    [
        ("a bus", [], ["bus"]),
        ("an air plane", [], ["airplane"]),
        ("two buses", ["bus"], ["bus"]),
        ("a tennis racket", ["racket"], ["tennis racket"]),
        ("a dining table", ["table"], ["dining table"]),
        ("a bow tie", ["tie"], ["bow tie"]),
        ("two bow ties", ["bow"], ["bow tie"]),  # "ties" is made "ty"
        ("three ties", [], ["tie"]),
        ("an orange cat", ["orange"], []),
        ("an orange on a plate", ["orange"], ["orange"]),
        ("apples, oranges", ["orange"], ["orange"]),
        ("an orange.", ["orange"], ["orange"]),
        ("an orange and white bird", ["orange", "bird"], ["bird"]),
        ("an orange and a bird", ["orange", "bird"], ["orange", "bird"]),
        ("an orange or bird", ["orange", "bird"], ["orange", "bird"]),
        ("an orange, white and black bird", ["orange", "bird"], ["bird"]),
        ("a baby goat", ["baby"], []),
        ("a baby sitting", ["baby"], ["baby"]),
        ("an adult and baby goat", ["adult", "baby"], []),
        ("a passenger ship", ["passenger"], []),
        ("a bus stop, many bus stops, buses", ["bus"], ["bus"]),
    ],
)
def test_rules_for_words_that_differ(caption, published, ours):
    assert names(PUBLISHED, caption) == published
    assert names(OURS, caption) == ours


def test_a_mention_has_the_list_s_name_its_class_and_the_caption_s_words():
    mention = OURS.find("Three Wine Glasses.").found[0]
    assert mention[:3] == ("wine glass", "wine glasses", "wine glass")
    assert PUBLISHED.find("puppies").found[0][:4] == ("puppy", "puppies", "dog", False)


@pytest.mark.parametrize("published", [False, True])
def test_added_classes_are_found_by_their_names(published):
    classes = ClassList("small", CLASSES, published=published)
    finder = MentionFinder(classes.with_names(["alarm clock", "clock", "sunglasses", "stop lamp"]))
    caption = "Alarm clocks, a clock, sunglasses, a lamp and a bear"
    assert names(finder, caption) == ["alarm clock", "clock", "sunglasses", "bear"]


def test_the_longest_name_is_taken():
    classes = ClassList("mine", (("truck", "fire truck"), ("fire truck ladder",), ("fire",)))
    finder = MentionFinder(classes)
    result = names(finder, "fire truck ladders, fire trucks, fire")
    assert result == ["fire truck ladder", "fire truck", "fire"]


def test_abbreviations_and_hyphens_are_names_too():
    finder = MentionFinder(ClassList("mine", (("tv", "t.v", "t.v.", "flat-screen t.v."),)))
    assert names(finder, "A t.v. on a t.v.") == ["t.v.", "t.v"]
    assert names(finder, "A flat-screen t.v. here") == ["flat-screen t.v."]


@pytest.mark.parametrize(
    ("caption", "categories"),
    [
        ("Surfers and a batter", ["person", "person"]),
        ("A tennis racquet", ["tennis racket"]),
        ("two men in neckties", ["person", "tie"]),
        ("A table at a desk", ["dining table"]),
        ("A pair of scissors", ["scissors"]),
        ("skis and a ski pole", ["skis"]),
        ("a stuffed bear and a polar bear", ["teddy bear", "bear"]),
        ("a roll of toilet paper", []),
        ("a desktop computer and a computer mouse", ["mouse"]),
        ("an elephant with its mother", ["elephant"]),
        ("two glasses of red wine", ["wine glass"]),
    ],
)
def test_our_synonyms(caption, categories):
    result = MentionFinder(coco_synonyms()).find(caption).found
    assert [mention.category for mention in result] == categories


def phrases(finder, caption):
    return [phrase[:3] for phrase in finder.phrases(caption, {"the", "can"})]


def test_phrases_are_content_words_and_terms():
    # Terms are called as the list calls them, words as the caption does.
    assert phrases(OURS, "The wet dogs\u2019 bus stops; wine glasses, isn't it?") == [
        ("wet", "wet", None),
        ("dogs", "dogs", "dog"),
        ("bus stop", "bus stops", None),
        ("wine glass", "wine glasses", "wine glass"),
        ("is", "is", None),
        ("it", "it", None),
    ]


def test_a_word_that_describes_is_a_phrase_and_no_mention():
    assert phrases(OURS, "an orange cat") == [
        ("an", "an", None), ("orange", "orange", None), ("cat", "cat", None),
    ]  # fmt: skip


def test_control_characters_and_symbols_stick_to_no_word():
    assert phrases(OURS, "dogs\x1b\nchairs\xac") == [
        ("dogs", "dogs", "dog"),
        ("chairs", "chairs", "chair"),
    ]
