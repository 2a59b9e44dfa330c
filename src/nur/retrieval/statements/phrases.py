"""The phrases that identify statements, in eight languages.

A phrase marks its sentence, or the clause around it, as a statement. Each was tested on chats between a person and an
assistant. Phrases that also occur in ordinary sentences ("I like", "always" in mid-sentence) are left out, or count
only at the start of a sentence.
"""

from __future__ import annotations

import re

from nur.domain.statements import StatementKind


def _any(*phrases: str) -> str:
    return "|".join(phrases)


#: Words that may precede an imperative.
_LEAD = r"""(?:(?:please|and|also|but|so|ok(?:ay)?|note|important|remember|reminder|instruction|rule|bitte|merke|
    s'il\s(?:te|vous)\spla[iî]t|por\sfavor|per\sfavore|alsjeblieft)\b[\s,:!–-]*+)*+"""

#: Not imperatives: "Never mind", "Always a pleasure", "Never thought of that".
_NO_VERB = r"(?:mind|the|an?|my|your|again|ever|been|had|heard|seen|knew|thought|said|got|was|\w+ed)\b"

#: Words that make a request a standing instruction, at the start of a sentence.
_STANDING = _any(
    r"(?:from\snow\son|going\sforward|in\s(?:the\s)?future|by\sdefault|as\sa\srule)\b",
    r"(?:every|each)\stime\s(?:i|we|you)\b",
    r"when(?:ever)?\si\s(?:ask|request|say|mention|tell|want|need)\b",
    rf"(?:always|never|do\snot\sever|don['’]t\sever)\s(?!{_NO_VERB})[a-z]",
    r"(?:make|be)\ssure\s(?:to|that\syou|you)\s(?:always|never)\b",
    r"remember\sto\s(?:always|never)\b",
    r"(?:immer|nie|niemals|ab\s(?:jetzt|sofort)|von\snun\san|k[üu]nftig|in\szukunft)\s(?!ich\b|wieder\b|noch\b|mehr\b)\w",
    r"(?:toujours|jamais|d[ée]sormais|dor[ée]navant|[àa]\spartir\sde\smaintenant)"
    r"[\s,]+(?!(?:l[ae]s?|une?|des?|du|ce|en|pas|plus|rien|l['’])\b)\w",
    r"ne\s\w+\sjamais\b",
    r"(?:siempre|nunca|a\spartir\sde\sahora|de\sahora\sen\sadelante)\s\w",
    r"(?:sempre|mai|d['’]ora\sin\s(?:poi|avanti)|a\spartir\sde\sagora|de\sagora\sem\sdiante)\s\w",
    r"(?:altijd|nooit|vanaf\snu|voortaan)\s\w",
)

#: Condition of a standing request, anywhere in a sentence; the sentence's start decides whether it is a request.
_CONDITION = r"\bwhen(?:ever)?\si\s(?:ask|request|mention|bring\sup|inquire)\b"

INSTRUCTION_START = re.compile(_LEAD + f"(?:{_STANDING})", re.IGNORECASE | re.VERBOSE)
INSTRUCTION_CONDITION = re.compile(_CONDITION, re.IGNORECASE | re.VERBOSE)
#: First words of questions and reports; an imperative begins with none of these.
NO_IMPERATIVE = re.compile(
    r"""(?:i|i['’]\w+|we|he|she|they|it|you|can|could|would|will|what|why|how|who|where|which|when\sdid|is|are|do|does|
    did|that|this|there|the|my|our)\b""",
    re.IGNORECASE | re.VERBOSE,
)

_ADVERB = r"(?:(?:really|generally|usually|always|still|definitely|strongly|much|also|personally|actually)\s)?"

PREFERENCE = re.compile(
    _any(
        rf"\b(?:i|we)(?:['’]d|\swould)?\s{_ADVERB}(?:prefer|favou?r)\b",
        rf"\b(?:i|we)\s{_ADVERB}(?:dislike|hate|love|enjoy)\b",  # but "I'd love to" is a momentary wish
        rf"\b(?:user|he|she|they|\w+)\s{_ADVERB}(?:prefers|dislikes|hates|loves|enjoys)\b",
        r"\b(?:i|we)(?:['’]d|\swould)\s(?:rather|like\smy|like\sto\skeep)\b",
        r"\b(?:i|we)\s(?:don['’]t|do\snot)\s(?:like|want\sto\suse|enjoy|eat|drink)\b",
        r"\bi\scan['’]?t\sstand\b",
        r"\b(?:i['’]m|i\sam|we['’]re|we\sare)\strying\sto\skeep\b",
        r"\b(?:i|we)\s(?:want|like|try)\sto\s(?:keep|avoid|stick)\b",
        r"\bmy\s(?:\w+\s)?(?:preference|favou?rite|preferred)\b",
        r"\b(?:is|am|are|['’]m|['’]s)\s(?:allergic\sto|vegetarian|vegan)\b",
        r"\bich\s(?:bevorzuge|mag|liebe|hasse|m[öo]chte\slieber|(?:\w+\s){1,3}lieber)\b",
        r"\b(?:je\spr[ée]f[èe]re|j['’]aime|j['’]adore|je\sd[ée]teste|je\sn['’]aime\spas)\b",
        r"\b(?:prefiero|me\s(?:gusta|encanta)n?|odio|no\sme\sgusta)\b",
        r"\b(?:preferisco|mi\spiace|non\smi\spiace|prefiro|gosto\sde|odeio|n[ãa]o\sgosto)\b",
        r"\bik\s(?:heb\sliever|hou\svan|haat|verkies)\b",
    ),
    re.IGNORECASE,
)

#: What someone wants to avoid. A decision in the same sentence takes precedence.
AVOIDANCE = re.compile(
    r"\bi\b[^.!?\n]{1,200}\bwithout\s(?:using|adding|attaching|relying\son|compromising|sacrificing)\b", re.IGNORECASE
)

_WE = r"(?:we|i|they|the\steam|he|she)(?:['’]ve|['’]s|\shave|\shas)?\s(?:(?:finally|now|just|all|both)\s)?"

DECISION = re.compile(
    _any(
        rf"\b{_WE}(?:decided|agreed|chose|chosen|picked|settled|opted)\b(?!\sto\s(?:ask|disagree)\b)",
        rf"\b{_WE}(?:switched|moved|migrated|went)\s(?:\w+\s)?(?:to|over\sto|with)\b",
        r"\b(?:we|i)(?:['’]re|['’]m|\sare|\sam|['’]ll|\swill)\s(?:going|go|switching|sticking)\swith\b",
        r"\b(?:the\s)?decision(?:\s(?:is|was)|:)",
        r"\bit\swas\s(?:decided|agreed)\b",
        r"\bwir\shaben\s(?:\w+\s){0,6}(?:entschieden|beschlossen|geeinigt)\b",
        r"\b(?:nous\savons|on\sa|j['’]ai)\s(?:d[ée]cid[ée]|choisi|opt[ée]|convenu)\b",
        r"\b(?:(?:hemos|he)\s(?:decidido|elegido|acordado)|decidimos|acordamos)\b",
        r"\b(?:abbiamo|ho)\s(?:deciso|scelto)\b|\b(?:decidimos|escolhemos|combinamos)\b",
        r"\b(?:we|ik)\s(?:hebben|heb)\s(?:\w+\s){0,6}(?:besloten|gekozen)\b",
    ),
    re.IGNORECASE,
)

QUESTION = re.compile(
    _any(
        r"\b(?:TODO|TBD|FIXME)\b",
        r"\bopen\s(?:question|issue|point)s?\b",
        r"\bstill\s(?:open|undecided|unclear|unresolved|need(?:s)?\sto\s(?:decide|choose|settle|find\sout))\b",
        r"\b(?:need|needs|have|has)\sto\s(?:decide|choose\sbetween)\b",
        r"\b(?:to\sbe\sdecided|yet\sto\sbe\sdecided|not\s(?:yet\s)?decided|haven['’]t\sdecided)\b",
        r"\b(?:remind\sme\sto|don['’]t\slet\sme\sforget|waiting\s(?:for|on)\s(?:an?\s)?(?:answer|reply|approval|decision))\b",
        r"\b(?:noch\soffen|noch\snicht\sentschieden|muss\snoch)\b",
        r"\b(?:reste\s[àa]\s(?:d[ée]cider|faire)|pas\sencore\sd[ée]cid[ée])\b",
        r"\b(?:por\sdecidir|pendiente\sde|falta\sdecidir|da\sdecidere)\b",
    ),
    re.IGNORECASE,
)

_AMOUNT = _any(
    r"[$€£₹¥]\s?\d[\d,.]*(?:\s?(?:k|m|million|bn))?\b",
    r"\b\d[\d,.]*\s?(?:%|percent\b|€|(?:euros?|dollars?|pounds?|rupees|usd|eur|gbp|inr)\b)",
    r"\b\d[\d,.]*\s?(?:kg|g|km|cm|mm|m|ml|l|gb|mb|kb|ms|hours?|minutes?|days?|weeks?|months?|years?|people|users|items)\b",
    r"\bv?\d+\.\d+(?:\.\d+)?\b",
    r"\b\d{1,2}:\d{2}\b",
)
VALUE = re.compile(
    rf"\b(?:is|are|was|costs?|takes?|weighs?|has|have|runs?|starts?|opens?|at|to|on|ist|sind|kostet|est|sont|co[ûu]te|es|son|cuesta)\b[^.!?\n]{{0,60}}?(?:{_AMOUNT})",
    re.IGNORECASE,
)

#: Tried on a sentence in this order; the first match decides its kind.
BY_PHRASE: tuple[tuple[StatementKind, re.Pattern[str]], ...] = (
    (StatementKind.PREFERENCE, PREFERENCE),
    (StatementKind.DECISION, DECISION),
    (StatementKind.PREFERENCE, AVOIDANCE),
    (StatementKind.QUESTION, QUESTION),
    (StatementKind.VALUE, VALUE),
)


def _words(listed: str) -> frozenset[bytes]:
    return frozenset(word.encode() for word in listed.split())


#: Every phrase of a kind contains one of these words. Looking up words is ten times as fast as matching the patterns,
#: and every text is searched.
TRIGGERS: dict[StatementKind, frozenset[bytes]] = {
    StatementKind.INSTRUCTION: _words(
        """always never now forward future default rule every each when whenever ever sure remember immer nie niemals
        jetzt sofort nun künftig kunftig zukunft toujours jamais désormais desormais dorénavant dorenavant maintenant
        siempre nunca ahora sempre mai ora agora altijd nooit nu voortaan"""
    ),
    StatementKind.PREFERENCE: _words(
        """prefer prefers favor favour dislike dislikes hate hates love loves enjoy enjoys rather like stand keep avoid
        stick without use eat drink preference favorite favourite preferred allergic vegetarian vegan bevorzuge mag
        liebe hasse lieber préfère prefere aime adore déteste deteste prefiero gusta gustan encanta encantan odio
        preferisco piace prefiro gosto odeio liever hou haat verkies"""
    ),
    StatementKind.DECISION: _words(
        """decided agreed chose chosen picked settled opted switched moved migrated went going go switching sticking
        decision entschieden beschlossen geeinigt décidé decide choisi opté opte convenu decidido elegido acordado
        decidimos acordamos deciso scelto escolhemos combinamos besloten gekozen"""
    ),
    StatementKind.QUESTION: _words(
        """todo tbd fixme open still decide choose decided forget remind waiting offen entschieden muss reste décidé
        pendiente decidir decidere"""
    ),
}
