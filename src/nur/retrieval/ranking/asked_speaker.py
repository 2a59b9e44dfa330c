"""Whose turns a question is about, judged by its pronouns and by whether it asks what was said.

Words are read in the question's own language: "du" is "you" in German and "of the" in French, "din" is "your" in
Norwegian and "day" in Hindi.
"""

from __future__ import annotations

from typing import NamedTuple

import regex

from nur.retrieval.text.function_words import languages_of

USER, ASSISTANT = "user", "assistant"

_FIRST_PERSON = {
    "en": "i my me mine myself i'm i've i'd i'll we our",
    "de": "ich mein meine meinen meinem meiner mir mich wir",
    "fr": "je j me m mon ma mes moi nous notre nos",
    "es": "yo mi mis mí me eu meu minha",
    "it": "io mi mio mia",
    "nl": "ik mijn",
    "no": "jag min mitt jeg meg vi",
    "pl": "ja mnie mój moja",
    "hi": "maine main mera meri mere mujhe मैं मेरा मेरी मेरे मुझे मैंने",
    "ru": "я мой моя моё мои мне меня мной",
    "tr": "ben benim bana beni",
}
_SECOND_PERSON = {
    "en": "you your yours yourself",
    "de": "du dein deine deinem deinen deiner deines dir dich",
    "fr": "tu te t ton ta tes toi vous votre vos",
    "es": "usted tú tu tus te ti você seu sua",
    "it": "tu ti tuo tua tuoi tue",
    "nl": "jij jou",
    "no": "du din ditt deg",
    "pl": "ty twój twoja",
    "hi": "tum tumne tumhara tumhari tumhare tumhe tune tera teri tere aap aapne aapka aapki aapke आप आपने आपका आपकी"
    " आपके तुम तुमने तुम्हारा तुम्हारी तुम्हारे",
    "ru": "вы вас вам ты тебя твой",
    "tr": "sen siz",
}
# Of languages without a list of function words.
_OTHER_FIRST_PERSON = frozenset("tôi saya aku mimi أنا لي εγώ μου με אני שלי".split())
_OTHER_SECOND_PERSON = frozenset("أنت εσύ εσείς אתה".split())
# Forms of the first person that can be who spoke: "I told you", but not "you told me".
_SUBJECTS = frozenset(
    "i i'm i've i'd i'll we ich wir je j nous yo eu io ik jag jeg vi ja maine main मैं मैंने я ben".split()
)
_FIRST_PERSON_SIGNS = ("我", "私", "僕", "俺", "ฉัน", "ผม", "내가", "나는", "제가", "저는")
_SECOND_PERSON_SIGNS = ("你", "您", "あなた", "คุณ", "당신")

# "Can you remind me …" addresses the assistant that searches; it does not ask what the assistant said. "What did you
# tell me" does.
_REQUEST = regex.compile(
    r"(?<!\bdid )\b(?:(?:can|could|would|will) you (?:please )?)?\b(?:you )?(?<!\bdid you )"
    r"(?:help|tell|give|show|explain|summari[sz]e|walk|remind|provide|list|suggest)\b",
    regex.IGNORECASE,
)
_PLEA = regex.compile(
    r"\b(?:can|could|would|will) you\b|\bthank you\b|\bdo you know\b|\bkannst du\b|\bkan du\b"
    r"|\b(?:peux|peut|pouvez|pourrais|pourriez)[- ](?:tu|vous)\b",
    regex.IGNORECASE,
)
_SAID_IN_ENGLISH = (
    r"sa(?:y|id|ying)|told|tell|mention\w*|suggest\w*|recommend\w*|propos\w*|advi[sc]e\w*|reckon\w*|came up with"
    r"|idea|tip|trick|talked|discuss\w*|promis\w*|agreed|warned|pointed out|answered|replied|objected"
)
_SAID_BY_LANGUAGE = {
    "fr": r"dit|disais|disait|conseil\w*|suggér\w*|recommand\w*|parl[ée]\w*|idée|racont\w*|évoqu\w*|expliqu\w*|astuce"
    r"|propos\w*|répond\w*|promis",
    "de": r"gesagt|sagte\w*|vorgeschlagen|vorschlag|empfohlen|erwähnt\w*|erzählt\w*|meintest|meinte|ratschlag|idee|tipp"
    r"|geantwortet|geraten|versprochen",
    "no": r"sa|sagt|foresl\w*|forslag\w*|anbefal\w*|nevnte|fortalte|mente|tips|idé\w*|svarte",
    "es": r"dijiste|dije|dijo|suger\w*|recomend\w*|consej\w*|disse\w*|conselh\w*|falou|idea|ideia",
    "it": r"detto|dicevi|consigl\w*|suggeri\w*|propost\w*|idea",
    "pl": r"powiedzia\w*|mówi\w*|radzi\w*|proponowa\w*|wspomina\w*|pomysł\w*",
    "hi": r"(?:kya|\w*ne) kah[ai]|bola|boli|bole|bataya|batayi|kehna|salah",  # "kaha" alone is also "where"
}
_SAID = {
    language: regex.compile(rf"\b(?:{verbs})\b", regex.IGNORECASE) for language, verbs in _SAID_BY_LANGUAGE.items()
}
# Not "how long have I got to say yes", nor "we're told to wait".
_I_SAID = regex.compile(
    rf"(?<!\b(?:are|were|am|was) )\b(?:i|we)(?:'ve|'d)?(?: \w+)? (?:{_SAID_IN_ENGLISH})\b"
    r"|\b(?:my|our) (?:idea|tip|trick|proposal|advice)\b",
    regex.IGNORECASE,
)
_SAID_ELSEWHERE = regex.compile(r"कहा|बताया|सुझा|बोला|सलाह|сказал|советова|предлож|упомина")
_EITHER = regex.compile(
    r"\b(?:you or (?:me|i)|yours or mine|mine or yours|(?:me|i) or you|(?:who|which) of us|de nous deux|wer von uns"
    r"|hvem av oss|ham mein se|hum mein se|quién de nosotros)\b",
    regex.IGNORECASE,
)
_WORD = regex.compile(r"[\w']+")


class AskedSpeaker(NamedTuple):
    """Whose turns a question is about."""

    role: str | None  #: None: anyone's
    asks_what_was_said: bool  #: by the user or the assistant, so the answer is in a conversation


def asked_speaker(question: str) -> AskedSpeaker:
    """Whose turns a question is about.

    What somebody else said ("what did the doctor say?") may be anywhere.
    """
    languages = languages_of(question)
    without_pleas = _PLEA.sub(" ", question)
    if _EITHER.search(without_pleas) is not None:
        return AskedSpeaker(None, asks_what_was_said=True)
    statement = _REQUEST.sub(" ", without_pleas)
    words = _spoken_words(statement)
    first = _pronouns(_FIRST_PERSON, languages) | _OTHER_FIRST_PERSON
    second = _pronouns(_SECOND_PERSON, languages) | _OTHER_SECOND_PERSON
    if not second.isdisjoint(words) or any(sign in question for sign in _SECOND_PERSON_SIGNS):
        is_assistant = next((word in second for word in words if word in second or word in first & _SUBJECTS), True)
        return AskedSpeaker(ASSISTANT if is_assistant else None, asks_what_was_said=True)
    if not first.isdisjoint(words) or any(sign in question for sign in _FIRST_PERSON_SIGNS):
        return AskedSpeaker(USER, _asks_what_the_asker_said(statement, languages))
    return AskedSpeaker(None, asks_what_was_said=False)


def _asks_what_the_asker_said(question: str, languages: list[str]) -> bool:
    if "en" in languages:
        return _I_SAID.search(question) is not None
    by_language = any(language in _SAID and _SAID[language].search(question) for language in languages)
    return by_language or _SAID_ELSEWHERE.search(question) is not None


def _pronouns(by_language: dict[str, str], languages: list[str]) -> frozenset[str]:
    return frozenset(word for language in languages for word in by_language.get(language, "").split())


def _spoken_words(question: str) -> list[str]:
    """The question's words in order, and the part of each before an apostrophe: "j'ai" adds "j"."""
    return [part for word in words_of(question) for part in dict.fromkeys((word.split("'")[0], word))]


def words_of(question: str) -> list[str]:
    """The question's words, casefolded, with straight apostrophes."""
    words: list[str] = _WORD.findall(question.casefold().replace("’", "'"))
    return words
