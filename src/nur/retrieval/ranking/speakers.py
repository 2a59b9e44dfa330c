"""Who is asked about: what "I" said, what "you" said, or what a named speaker said.

A question about the asker ("when did I…") is answered by what the user said, not by the long reply to it; a question
that names a speaker by that speaker's turns ("Caroline: …"). Both decide among turns: other turns lose, and none gains
over a memory or a document.
"""

from __future__ import annotations

from typing import NamedTuple

import regex

_FIRST_PERSON = frozenset(
    "i my me mine myself i'm i've i'd i'll we our ich mein meine meinen meinem meiner mir mich wir je j mon ma mes moi "
    "nous yo mi mis mí io mio mia eu meu minha ik mijn jag min mitt jeg meg vi ja mnie mój moja я мой моя моё мои мне "
    "меня мной ben benim bana beni tôi saya aku mimi maine main mera meri "
    "मैं मेरा मेरी मेरे मुझे मैंने أنا لي εγώ μου με אני שלי".split()
)
_SECOND_PERSON = frozenset(
    "you your yours yourself du dein deine deiner dir dich din ditt deg tu ton tes toi vous votre vos usted tú você "
    "seu jij jou ty twój twoja tum tumne tumhara aap aapne aapka вы вас вам ты тебя твой sen siz "
    "आप आपने तुम तुमने أنت εσύ εσείς אתה".split()
)
_FIRST_PERSON_SIGNS = ("我", "私", "僕", "俺", "ฉัน", "ผม", "내가", "나는", "제가", "저는")
_SECOND_PERSON_SIGNS = ("你", "您", "あなた", "คุณ", "당신")

# "Can you remind me …" speaks to the one who searches, not about what they said.
_REQUEST = regex.compile(
    r"\b(?:(?:can|could|would|will|did) you (?:please )?)?\b(?:you )?"
    r"(?:help|tell|give|show|explain|summari[sz]e|walk|remind|provide|list|suggest)\b",
    regex.IGNORECASE,
)
_PLEA = regex.compile(
    r"\b(?:can|could|would|will) you\b|\bthank you\b|\bdo you know\b|\bkannst du\b|\bkan du\b"
    r"|\b(?:peux|peut|pouvez|pourrais|pourriez)[- ](?:tu|vous)\b",
    regex.IGNORECASE,
)
_SAID = regex.compile(
    r"\b(?:sa(?:y|id|ying)|told|tell|mention\w*|suggest\w*|recommend\w*|propos\w*|advi[sc]e\w*|reckon\w*|came up with"
    r"|idea|tip|trick|talked|discuss\w*|promis\w*|agreed|warned|pointed out"
    r"|dit|disais|disait|conseil\w*|suggér\w*|recommand\w*|parl[ée]\w*|idée|racont\w*|évoqu\w*|expliqu\w*|astuce"
    r"|gesagt|sagte\w*|vorgeschlagen|vorschlag|empfohlen|erwähnt\w*|erzählt\w*|meintest|meinte|ratschlag|idee|tipp"
    r"|sa|sagt|foresl\w*|forslag\w*|anbefal\w*|nevnte|fortalte|mente|tips|idé\w*"
    r"|dijiste|dije|dijo|suger\w*|recomend\w*|consej\w*|disse\w*|conselh\w*|falou"
    r"|powiedzia\w*|mówi\w*|radzi\w*|proponowa\w*|wspomina\w*|pomysł\w*"
    r"|kaha|kahi|bola|boli|bole|bataya|batayi|kehna|salah)\b"
    r"|कहा|बताया|सुझा|बोला|सलाह|сказал|советова|предлож|упомина",
    regex.IGNORECASE,
)
_EITHER = regex.compile(r"\b(?:you or (?:me|i)|yours or mine|mine or yours|(?:me|i) or you)\b", regex.IGNORECASE)
_WORD = regex.compile(r"[\w']+")
_SPEAKER = regex.compile(r"\s{0,4}(\p{L}[\w .'’-]{0,40}?)\s?[:：]\s")

USER, ASSISTANT = "user", "assistant"


class AskedSpeaker(NamedTuple):
    """Whose turns a question is about."""

    role: str | None  #: None: anybody's
    asks_what_was_said: bool  #: so a conversation holds the answer


def asked_speaker(question: str) -> AskedSpeaker:
    """Whose turns a question is about, by its pronouns and by whether it asks what was said."""
    plain = _PLEA.sub(" ", question)
    words = _spoken_words(_REQUEST.sub(" ", plain))
    first = _mentions(words, question, _FIRST_PERSON, _FIRST_PERSON_SIGNS)
    second = _mentions(words, question, _SECOND_PERSON, _SECOND_PERSON_SIGNS)
    said = _SAID.search(plain) is not None
    if second:
        is_assistant = (said or not first) and _EITHER.search(plain) is None
        return AskedSpeaker(ASSISTANT if is_assistant else None, asks_what_was_said=True)
    return AskedSpeaker(USER if first else None, asks_what_was_said=said)


def speaker(opening: str) -> str | None:
    """The name before the colon that opens a turn ("Caroline: Hey!"), casefolded."""
    if ":" not in opening and "：" not in opening:  # most turns name nobody, and this is sixty times faster
        return None
    found = _SPEAKER.match(opening)
    return found.group(1).casefold() if found else None


def names(question: str) -> frozenset[str]:
    """The question's words, casefolded, without possessives: what a speaker's name is looked for in."""
    folded = question.casefold().replace("’", "'")
    return frozenset(word.removesuffix("'s").strip("'") for word in _WORD.findall(folded))


def _spoken_words(question: str) -> set[str]:
    """The words, and what stands before their apostrophes: "j'ai" has "j"."""
    words = _WORD.findall(question.casefold().replace("’", "'"))
    return {*words, *(word.split("'")[0] for word in words)}


def _mentions(words: set[str], question: str, pronouns: frozenset[str], signs: tuple[str, ...]) -> bool:
    return not words.isdisjoint(pronouns) or any(sign in question for sign in signs)
