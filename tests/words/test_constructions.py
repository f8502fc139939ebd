"""What texts assert, deny, or name without claiming it; each sentence was read by hand."""

import pytest

from vifidel_eval.words.mentions import finder_of
from vifidel_eval.words.synonyms import class_names

FINDER = finder_of(class_names())


def read(text):
    """Return the words of a text's things, each with a minus sign if it is denied."""
    return " ".join(
        "-" * unit.denied + unit.words.replace(" ", "_")
        for unit in FINDER.phrases(text, ())
        if unit.category
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Negation: cues before and behind, lists, terminators, double negation.
        ("There is not a single cow in sight.", "-cow"),
        ("Nowhere in the photo is there a bus.", "-bus"),
        ("Buses are absent from this street.", "-buses street"),
        ("A kite is nowhere to be seen.", "-kite"),
        ("We do not see any kite.", "-kite"),
        ("A horse, but not a cow.", "horse -cow"),
        ("No cows, horses, and kites, only a bus.", "-cows -horses -kites bus"),
        ("Without a kite but with a bus.", "-kite bus"),
        ("The yard is cow-free.", "yard -cow"),
        ("No sign of a kite.", "-kite"),
        ("There are no cows or other objects.", "-cows"),
        ("It is not the case that there is no cow.", "cow"),
        ("The scene is not without a cow.", "cow"),
        ("One may not miss the cow.", "cow"),
        ("There are no parked cars.", ""),  # others may be there
        ("There are no other cows.", ""),
        # Cues behind the name, and before it.
        ("The cow is not visible, and the kite can't be seen.", "-cow -kite"),
        ("Their kite is not visible.", ""),  # others may be
        ("A kite, which is not in the picture, and a kite, which isn't visible.", "kite -kite"),
        ("Nowhere is a cow to be seen. Missing from the scene is a kite.", "-cow -kite"),
        ("No cow was found. No cow seen here is asleep.", "-cow cow"),
        ("It fails to show a cow. It is not a cow but a horse.", "-cow -cow horse"),
        ("No cow or other object of that kind is present.", "-cow"),
        ("Is there a cow? Answer: no", "-cow"),
        ("Not only a cow, no less than two horses, and no more than one kite.", "cow horses kite"),
        ("A piano, and there is no cow.", "piano -cow"),
        # Substitutes, purposes, who is not in the picture.
        ("A horse instead of a cow, rather than a kite.", "horse"),
        ("Instead of one horse there are two.", "horse"),
        ("A bowl for a cow, a lane reserved for buses.", "bowl"),
        ("A cow waits for the horse.", "cow"),
        ("The person taking the photo, and the man behind the camera.", ""),
        ("Drivers can insert coins. People can be seen.", "coins people"),
        # Depictions, comparisons, idioms.
        ("A shirt with a cow printed on it, and a bag that has a kite on it.", "shirt bag kite"),
        ("A magazine with a cow on its cover. A horse on the screen.", "magazine screen"),
        ("A tray with doughnuts on it and a piece of cake.", "tray doughnuts cake"),
        ("A cow as well as a horse, and a cow as fast as a horse.", "cow horse cow"),
        ("A stuffed toy cow, a toy teddy bear and a plush couch.", "teddy_bear couch"),
        ("A cloud that looks like a cow; an animal that looks like a cow.", "cloud animal cow"),
        ("A mug with a statue of a cow.", "mug statue"),
        ("The cow pretends to be a horse.", "cow"),
        ("The horse is as big as a bus.", "horse"),
        ("A cake shaped like a train.", "cake"),
        ("A horse bigger than a cow.", "horse"),
        ("It is raining cats and dogs.", ""),
        ("A photo of a cow.", "cow"),  # which is what the picture is
        ("It looks like a cow.", "cow"),
        ("A plush zebra and a ceramic cow; a ceramic bowl.", "bowl"),
        # Purposes, and who is not in the picture.
        ("Signs for pedestrians.", "signs"),
        ("A man waits for a bus.", "man"),
        ("It noticed the photographer.", ""),
        # What is written, in quotes, on what bears it.
        ('A sign reads "Beware of cows." by a horse.', "sign horse"),
        ("A mug with the words \u2018cow\u2019 and a horse.", "mug horse"),
        ('It says: "a cow stands there". "A horse."', "cow horse"),
        # Others may be there; lists with what is no thing; lists by lines.
        ("There are no cows standing on the road, and no cars parked here.", ""),
        ("It has no text, cows, or cars. With no warning, a horse appears.", "-cows -cars horse"),
        ("Without a doubt, a cow or a horse.", "cow horse"),
        ("No cows, no cars, and no kites.", "-cows -cars -kites"),
        ("There do not appear to be any cows. Not a single car is in sight.", "-cows -car"),
        ("The horse has no saddle, nor is there a cow.", "horse -saddle -cow"),
        ("It does not include:\n- cows\n- cars\n\nA horse.", "-cows -cars horse"),
        ("It includes:\n- cows\n- cars", "cows cars"),
        ('{"seen": ["cow"], "absent": ["car"]}', "cow -car"),
        # Several depictions, screens, comparisons, and whom something is for.
        ("A bus with pictures of cows and ads for cars. Drawings of horses.", "bus horses"),
        ("A vase painted with cows; a quilt with prints of a group of horses.", "vase quilt"),
        ("A tv displaying a picture of a cow. On the tv screen, a horse.", "tv tv_screen"),
        (
            "The dog looks like a cow and is bigger than most cats. The animal looks like a cow.",
            "dog animal cow",
        ),
        ("A cake made to look like a car.", "cake"),
        ("A train to transport passengers. A bus can carry up to 80 people.", "train bus"),
        ("A bird's-eye view of a road, and a bird's eye.", "bird"),
        # Other meanings.
        ("The bus is orange, and the car black and orange.", "bus car"),
        ("An orange and a bus.", "orange bus"),
        ("A remote place with human activity.", ""),
        ("A cow can jump; a soda can stands there.", "cow soda can"),
        (
            "The laptop has a black keyboard, and the keyboard is clean. A keyboard.",
            "laptop keyboard",
        ),
        ("The truck's cab is red. A cab.", "truck cab"),
        ("A train with several cars and a car.", "train car"),
        (
            "They play a very old Super Mario Brothers Wii game by a Golden Retriever on grass.",
            "golden_retriever grass",
        ),
        # What is called by its maker, behind a determiner.
        ("A red Toyota, two Harleys and a Boeing 747.", "toyota harleys boeing"),
        ("A Lexus logo; ads by Toyota and Boeing.", ""),
        ("The toilet is white, and the bowl is clean.", "toilet"),
        ("A bed of mulch, a gravel bed and a bed.", "bed"),
        ("The wall has ads of Toyota Trucks and a Shiny Robot.", "wall"),
        # Layouts.
        ("cow: 1\nhorse: 0", "cow -horse"),
        ('{"cow": 1, "horse": null}', "cow -horse"),
        ("Is there a cow? No.", "-cow"),
        ("Is there a cow? Yes.", "cow"),
        ("Is there a cow? No, there is no cow. Any horses?\nNo", "-cow -cow -horses"),
        ("Do you see cows or a horse? **No**", "-cows -horse"),
        ("Is there a horse near the cow? No. Is a red cow there? Nope!", "-horse cow"),
        ("Perhaps a cow near a horse? No.", "-cow"),
        # A question about a thing that is there, or no answer to it.
        ("Is the cow asleep? No.", "cow"),
        ("Is it odd that there is a cow? No.", "cow"),
        ("A cow? No doubt. A horse? No one knows.", "cow horse"),
        ("How many cows are there? None of them counts.", "cows"),
        ("How many cows are there? None.", "-cows"),
        ("There are zero cows and one horse.", "-cows horse"),
        ("Neither the cow nor the horse is visible.", "-cow -horse"),
        ("Neither the cow nor the horse is asleep.", "cow horse"),
        ("The cow is no longer visible, and the horse no longer sleeps.", "-cow horse"),
        ("I don't think there is a cow.", "-cow"),
        ("There was never a cow. There was never a horse so calm.", "-cow horse"),
        ("No dogs are allowed, but a cow is.", "cow"),
        ("Not visible: cow, horse.", "-cow -horse"),
        ("A dog the size of a horse, mistaken for a cow.", "dog"),
        ("a cow\u2028horse", "cow horse"),
        ("Objects absent: cow, horse.", "-cow -horse"),
        ("https://example.org/cow.jpg shows a horse", "horse"),
        (
            "The man wears a hard\nhat. There is no\ncow. A cow\nhorse",
            "man hard_hat -cow cow horse",
        ),
        # Spelling.
        ("🐕 and a 🚗, with a 📷 and 👍", "🐕 🚗"),
        ("A girafe, an umberella and a T.V.", "girafe umberella t.v"),
    ],
)
def test_what_a_text_claims(text, expected):
    assert read(text) == expected


def test_a_misspelled_name_is_the_name_and_a_word_of_english_is_none():
    result = FINDER.read("A zeebra near the grave.", ()).claims
    assert [(c.text, c.words, c.category) for c in result if c.category == "zebra"] == [
        ("zebra", "zeebra", "zebra")
    ]


def test_negations_are_read_in_linear_time():
    text = "never without a cow " * 3_000
    assert read(text).count("-") == 0
