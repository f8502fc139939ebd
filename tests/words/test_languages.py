"""Signs that tell English captions from others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vifidel_eval.words.content_words import foreign_language

# Captions as people write them of the same three pictures.
CAPTIONS = {
    "German": [
        "Ein brauner Hund läuft mit einem Ball über die Wiese.",
        "Eine Katze sitzt auf dem Sofa neben einem Kissen.",
        "Zwei Kinder spielen am Strand mit einem Drachen.",
    ],
    "French": [
        "Un chien brun court avec une balle sur l'herbe.",
        "Un chat est assis sur le canapé à côté d'un coussin.",
        "Deux enfants jouent sur la plage avec un cerf-volant.",
    ],
    "Spanish": [
        "Un perro marrón corre con una pelota sobre la hierba.",
        "Un gato está sentado en el sofá junto a un cojín.",
        "Dos niños juegan en la playa con una cometa.",
    ],
    "Italian": [
        "Un cane marrone corre con una palla sul prato.",
        "Un gatto è seduto sul divano accanto a un cuscino.",
        "Due bambini giocano con un aquilone sulla spiaggia.",
    ],
    "Portuguese": [
        "Um cachorro marrom corre com uma bola na grama.",
        "Um gato está sentado no sofá ao lado de uma almofada.",
        "Duas crianças brincam com uma pipa na praia.",
    ],
    "Dutch": [
        "Een bruine hond rent met een bal over het gras.",
        "Een kat zit op de bank naast een kussen.",
        "Twee kinderen spelen met een vlieger op het strand.",
    ],
    "Polish": [
        "Brązowy pies biegnie z piłką po trawie i szczeka.",
        "Kot siedzi na kanapie obok poduszki przed oknem.",
        "Dwie dziewczynki bawią się na plaży z latawcem.",
    ],
    "Turkish": [
        "Kahverengi bir köpek bir top ile çimlerin üzerinde koşuyor.",
        "Bir kedi kanepenin üzerinde bir minder ile oturuyor.",
        "İki çocuk ve bir adam sahilde bir uçurtma ile oynuyor.",
    ],
    "Chinese": ["一只棕色的狗在草地上追球。", "一只猫坐在沙发上。", "两个孩子在海滩上玩风筝。"],
    "Japanese": ["茶色の犬が草の上をボールを持って走っています。", "猫がソファに座っています。"],
    "Korean": ["갈색 개가 공을 물고 잔디 위를 달린다.", "고양이가 소파에 앉아 있다."],
    "Russian or another language in Cyrillic letters": ["Коричневая собака бежит по траве."],
    "Arabic or another language in Arabic letters": ["كلب بني يركض على العشب مع كرة", "قطة تجلس"],
}
ENGLISH = [
    "A brown dog runs across the grass with a ball.",
    "A cat sits on the sofa next to a cushion.",
    "Two children play on the beach with a kite.",
    "A man rides his bicycle through the streets of the city.",
]


@pytest.mark.parametrize("language", CAPTIONS)
def test_the_language_of_a_few_captions(language):
    result = foreign_language(CAPTIONS[language])
    assert result is not None
    name, examples = result
    assert name == language
    assert 1 <= len(examples) <= 3
    text = " ".join(CAPTIONS[language]).casefold()
    assert all(example in text for example in result[1])


@pytest.mark.parametrize(
    "captions",
    [
        [],
        [""] * 50,
        ENGLISH,
        [caption.upper() for caption in ENGLISH],
        ["dog grass ball brown"] * 20,
        ["a die on a fan", "an inn with a sign: die Krone, der Hut", *ENGLISH],
        ["a plate of tacos al pastor and pan de muerto on the table in la casa"] * 5,
        ["Le Mans, the Los Angeles skyline, Rio de Janeiro and Das Boot"] * 5,
        ["42 + 1"] * 50,
        ["Ein Hund"],  # too little to tell
        ["犬"],
    ],
)
def test_english_and_too_little_are_no_other_language(captions):
    assert foreign_language(captions) is None


@given(st.lists(st.sampled_from(ENGLISH), min_size=8), st.sampled_from(sorted(CAPTIONS)))
def test_english_with_one_caption_of_another_language_is_english(captions, language):
    assert foreign_language([*captions, CAPTIONS[language][0]]) is None
