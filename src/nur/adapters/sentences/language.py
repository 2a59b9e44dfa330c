"""Whether a text is English: a model that knows nothing else should not be asked about the rest."""

from __future__ import annotations

import regex

_WORD = regex.compile(r"\p{L}+")

_ENGLISH = frozenset(
    "a about after again all also am an and any are as at be because been before being between both but by can could "
    "did do does doing down during each for from had has have having he her here him his how i if in into is it its "
    "just me might more most must my no not of off on once only or other our out over own same she should so some such "
    "than that the their them then there these they this those through to too under up us was we were what when where "
    "which while who whom whose why will with would you your".split()
)
# French, Spanish, Portuguese, Italian, German, Dutch, Scandinavian, Polish, Hindi in Latin letters, Turkish.
_OTHERS = (
    frozenset(
        "le la les un une des du de d l et ou où que qui quoi quel quelle est ce cet cette ces je j tu il elle nous "
        "vous ils elles m te se s mon ma mes ton ta tes son sa ses notre nos votre vos leur leurs au aux en dans par "
        "pour sur sous avec sans ne n pas plus ai avons avez ont été être fait y comment quand combien pourquoi c qu "
        "lui si mais donc el los las del con para por una uno qué cuál dónde cuándo cómo es está o os um uma ao da "
        "em não quem qual onde quando di che è il lo gli per non sono chi dove come der die das und ist wie wer wo "
        "wann ich nicht ein eine mit für auf von zu het een van og på det er som til av med den har jeg hva hvem "
        "hvor når hvilket hvilken ikke vi min mitt mine är och att för inte w na z się jest co kto gdzie kiedy jak "
        "ile czy że nie ka ki ke ko hai kya kaun kab kahan mein aur ya tha thi hum mera meri mere ne bhi nahi ve bir "
        "bu ne için mi".split()
    )
    - _ENGLISH
)


def is_english(text: str) -> bool:
    """By its function words; a text without any is taken for English where it is plain ASCII."""
    words = _WORD.findall(text.casefold())
    english = sum(word in _ENGLISH for word in words)
    others = sum(word in _OTHERS for word in words)
    return english > others or (english == others and text.isascii())
