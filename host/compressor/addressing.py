"""How a text reads that speaks to its reader, or gives orders: notes do neither, they tell of the user in the third person."""

from __future__ import annotations

import re

SECOND_PERSON: dict[str, str] = {
    "en": r"\b(?:you|your|yours|yourself|let me know)\b",
    "de": r"\b(?:du|dir|dich|dein\w*|Ihnen|(?i:bitte))\b",
    "fr": r"\b(?:vous|votre|vos|tu|toi)\b",
    "es": r"\b(?:usted(?:es)?|tú|tus?)\b",
    "pt": r"\b(?:você|vocês)\b",
    "it": r"\b(?:tu|tuo|tua|tuoi|voi|vostr\w)\b",
    "ru": r"\b(?:вы|вас|вам|вами|ваш\w*|ты|тебя|тебе|тво[йяеи]\w*)\b",
    "zh": r"[你您]|请(?!求)",
    "ja": r"あなた|ください|下さい|ましょう(?:か)?[。？]|なさい",
    "ko": r"당신|세요|십시오|드릴까요",
}
"""Language -> how it names the reader."""

NARRATED = re.compile(
    r"\b(?:users?|assistant|customer|(?:be)?nutzer\w*|usuari[oa]s?|utilisat\w+|utente|usuário|пользовател\w*)\b|用[户戶]|ユーザ|사용자",
    re.IGNORECASE,
)
QUOTED = re.compile(r"\"[^\"\n]*\"|“[^”\n]*”|«[^»\n]*»|「[^」\n]*」|`[^`\n]*`")
SENTENCE = re.compile(r"(?<=[.!?。！？])\s+|(?<=[。！？])|\n+")
ORDERED = re.compile(
    r"(?:now |then |and |please |just |immediately |at once )*"
    r"(?:ignore|disregard|forget|override|pretend|obey|run|execute|delete|remove|drop|post|send|upload|download|install|visit|click|print"
    r"|output|say|reply|respond|repeat|reveal|transfer|tell|type|enter|do not|don['’]t|stop)\b(?!,? (?:was|were|is|are|has|have|had)\b)",
    re.IGNORECASE,
)
OVERRIDES = re.compile(
    r"(?:please )?(?:ignore|disregard|forget|override)\b(?: \w+){0,5} (?:instructions?|prompts?|rules|messages|directions|context)\b"
    r"|忽略.{0,12}(?:指令|指示|提示|规则)|.{0,16}(?:指示|命令)を(?:すべて)?無視"
    r"|ignorier\w* .{0,30}(?:anweisung|regel)\w*"
    r"|ignorez? .{0,30}(?:instructions|consignes)|ignor[ae] .{0,30}(?:instruc|istruz|instruç)\w*"
    r"|игнорируй\w* .{0,40}(?:инструкц|указан)\w*",
    re.IGNORECASE,
)
SPOKEN_TO = re.compile("|".join(SECOND_PERSON.values()))


def addresses_reader(text: str) -> bool:
    """Whether a short text speaks to its reader and nowhere of the user; what it quotes does not count."""
    said = QUOTED.sub("", text)
    return NARRATED.search(said) is None and SPOKEN_TO.search(said[:1].lower() + said[1:]) is not None


def only_orders(text: str) -> bool:
    """Whether every sentence of a text is an order."""
    sentences = _sentences(text)
    return bool(sentences) and all(ORDERED.match(sentence) for sentence in sentences)


def overrides(text: str) -> bool:
    """Whether a sentence of a text orders its reader to follow other instructions than his own."""
    return any(OVERRIDES.match(sentence) for sentence in _sentences(text))


def _sentences(text: str) -> list[str]:
    return [sentence.strip(" \t-*•\"'“”") for sentence in SENTENCE.split(text) if sentence.strip()]
