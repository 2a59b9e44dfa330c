"""The lists that the table of English words is made of."""

from __future__ import annotations

import pytest

from release.devanagari import latin_spellings, simplified
from release.word_lists import FOLDER, read_all, read_list


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("पानी", {"pani", "paani"}),
        ("निकलना", {"nikalna"}),  # the vowel after the last consonant of the stem is silent
        ("निकला", {"nikla"}),
        ("मोहल्ला", {"mohalla"}),  # it is spoken before two consonants
        ("बहन", {"bahan", "behan", "behen"}),
        ("अच्छा", {"achha", "accha", "acha"}),
        ("दरवाज़ा", {"darwaza", "darvaza", "darwaja", "darwaaza"}),
        ("जाएगा", {"jayega", "jaega"}),
        ("फूल", {"phool", "phul", "ful"}),
        ("लड़कियाँ", {"ladkiyan", "larkiyan", "ladkiya"}),
        ("चाय", {"chai", "chay"}),
        ("मित्र", {"mitr", "mitra"}),
        ("ज्ञान", {"gyan", "gyaan"}),
    ],
)
def test_a_devanagari_word_has_the_latin_spellings_that_people_type(word: str, expected: set[str]) -> None:
    assert expected <= set(latin_spellings(word))


def test_devanagari_is_also_typed_without_dots_and_with_one_nasal_sign() -> None:
    assert simplified("ज़रूर") == "जरूर"
    assert simplified("हँसना") == "हंसना"
    assert simplified("लड़का") == "लड़का"  # this dot makes another sound


def test_a_rule_gives_the_forms_of_the_words_below_it() -> None:
    lines = ["@ e er te t", "kjøpe\tbuy", "@ -", "mann menn\tman husband", "# a comment", ""]
    forms = dict.fromkeys(("kjøpe", "kjøper", "kjøpte", "kjøpt"), "buy")
    assert read_list(lines) == {**forms, "mann": "man husband", "menn": "man husband"}


def test_a_listed_word_wins_over_a_form_of_another() -> None:
    found = read_list(["@ ना ने नी", "पाना\tget", "@ -", "पानी\twater"])
    assert (found["पाने"], found["पानी"]) == ("get", "water")


def test_a_word_that_does_not_fit_its_rule_is_refused() -> None:
    with pytest.raises(ValueError, match="hus does not end in e"):
        read_list(["@ e er", "hus\thouse"])


def test_loan_words_and_excluded_words_get_no_latin_spellings() -> None:
    found = read_list(["@native -", "फोन\tphone", "@ -", "दिल\theart", "मन\tmind", "@not", "man dil"])
    assert found == {"फोन": "phone", "दिल": "heart", "मन": "mind"}


def test_every_line_has_one_or_two_english_words() -> None:
    for path in FOLDER.glob("*.tsv"):
        words = read_list(path.read_text(encoding="utf-8").splitlines())
        assert len(words) > 1_000, path.name
    for word, english in read_all().items():
        assert 1 <= len(english.split(" ")) <= 2, word
        assert english.replace(" ", "").isalpha(), word
        assert english.isascii(), word
        assert english == english.lower(), word
