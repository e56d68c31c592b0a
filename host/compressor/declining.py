"""How a text reads that only declines, language by language."""

from __future__ import annotations

import re

DECLINES: dict[str, tuple[str, ...]] = {
    "en": (
        r"(?:(?:i['’]?m|i am|we['’]?re)? ?(?:very |so |truly )?sorry|i apologi[sz]e|unfortunately|as an ai|i|we)\b.{0,120}?"
        r"(?:can(?:no|['’]?)t|could(?:n['’]t| not)|(?:un|not )able to|(?:won['’]?t|will not)(?: be able to)?|(?:must|have to) decline)"
        r"(?: to)?(?: \w+)? ?"
        r"(?:help|assist|comply|fulfil|provide|summar|do (?:that|this)|continue|complete|process|engage|create|generate|discuss|answer)",
    ),
    "zh": (
        r"(?:非常|很)?(?:抱歉|对不起|對不起|遗憾|遺憾|不好意思)?.{0,20}?我?(?:无法|無法|不能|不便|没有办法|沒有辦法)"
        r"(?:协助|協助|帮助|幫助|提供|完成|继续|繼續|处理|處理|满足|滿足|回答|总结|總結|为您|為您|为你|為你|帮|幫)",
    ),
    "ja": (
        r"(?:大変)?(?:申し訳|すみません|恐れ入り|残念).{0,60}?(?:できません|できかねます|いたしかねます|出来ません|お応え)",
        r".{0,20}お手伝い(?:する)?ことはできません",
    ),
    "ko": (
        r"(?:정말 )?(?:죄송|미안|유감).{0,80}?(?:수 ?(?:는 |가 )?없|못 ?합니다|어렵습니다|불가능)",
        r".{0,40}?(?:도와 ?드릴|도울|답변(?:해 ?드릴|할)|요약(?:해 ?드릴|할)|제공(?:해 ?드릴|할)|처리(?:해 ?드릴|할)) 수 ?(?:는 |가 )?없",
    ),
    "es": (
        r"(?:lo siento|perdón|disculp\w+|lamento).{0,80}?no (?:puedo|podemos|me es posible)",
        r"no puedo (?:ayudar|asistir|proporcionar|continuar|cumplir|resumir)",
    ),
    "pt": (
        r"(?:desculp\w+|sinto muito|lamento|infelizmente).{0,80}?não (?:posso|podemos|consigo|é possível)",
        r"não (?:posso|consigo) (?:ajudar|auxiliar|fornecer|continuar|resumir)",
    ),
    "it": (
        r"(?:mi (?:di)?spiace|scus\w+|purtroppo|mi rincresce).{0,80}?non (?:posso|possiamo|sono in grado|mi è possibile|riesco)",
        r"non (?:posso|sono in grado di) (?:aiutar|assister|fornir|continuar|riassumer|rispond|soddisfar)",
    ),
    "de": (
        r"(?:(?:es )?tut mir (?:sehr )?leid|entschuldig\w+|sorry|leider).{0,80}?(?:kann|darf|werde|können).{0,60}?nicht",
        r"ich kann (?:dabei|ihnen|dir|das|diese\w*)\b.{0,40}?nicht",
        r"(?:das|dabei|damit|hierbei|dies\w*|diese\w* \w+) (?:kann|darf|werde|möchte) ich\b.{0,40}?nicht",
    ),
    "fr": (
        r"(?:(?:je suis )?(?:vraiment )?désolée?|navrée?|je regrette|malheureusement).{0,80}?(?:ne (?:peux|puis|suis)|pas)",
        r"je ne (?:peux|puis) pas (?:vous |t['’])?(?:aider|fournir|continuer|résumer|répondre)",
    ),
    "nl": (
        r"(?:het spijt me|sorry|helaas|excuses).{0,80}?(?:kan|mag|zal|kunnen).{0,60}?niet",
        r"(?:ik kan (?:je|u|dit|dat|hier)|(?:dat|dit|daar) kan ik)\b.{0,40}?niet",
    ),
    "sv": (r"(?:jag är ledsen|tyvärr|förlåt|ursäkta|beklagar).{0,80}?kan (?:jag )?(?:\w+ )?(?:inte|ikke)",),
    "da": (r"(?:jeg beklager|(?:det er jeg )?ked af det|desværre|dessverre|beklager|undskyld|unnskyld).{0,80}?kan.{0,40}?ikke",),
    "fi": (r"(?:valitettavasti|olen pahoillani|pahoittelen|anteeksi).{0,80}?(?:en (?:voi|pysty)|emme voi)",),
    "pl": (r"(?:przepraszam|przykro mi|niestety).{0,80}?nie (?:mogę|możemy|jestem w stanie)", r"nie mogę (?:w tym )?(?:pomóc|kontynuować)"),
    "cs": (r"(?:omlouvám se|je mi líto|bohužel|ospravedlňujem sa|ľutujem|žiaľ).{0,80}?(?:ne(?:mohu|můžu|môžem)|nelze)",),
    "ru": (
        r"(?:извин\w+|прости\w*|прошу прощения|к сожалению|сожалею|мне жаль|увы).{0,80}?не (?:могу|можем|смогу|в состоянии|имею)",
        r"я не (?:могу|смогу|буду) (?:помо[чг]|выполн|продолж|ответ|предостав|обраб|резюм|обсужд|(?:вам|с этим|этого|это))",
    ),
    "uk": (r"(?:вибач\w+|пробач\w*|перепрошую|на жаль|мені (?:дуже )?шкода).{0,80}?не (?:можу|можемо|зможу|в змозі)",),
    "el": (r"(?:λυπάμαι|συγγνώμη|δυστυχώς|ζητώ συγγνώμη).{0,80}?δεν (?:μπορώ|μπορούμε|είμαι|είναι)",),
    "tr": (r"(?:üzgünüm|özür diler\w*|maalesef|kusura bakma\w*|ne yazık ki).{0,120}?\w*(?:[ae]m(?:em|am|iyorum|ıyorum|ay|ey)|değil)",),
    "ar": (
        r"(?:عذر\S{0,3}|آسف\S{0,2}|أنا آسف|نأسف|أعتذر|نعتذر|للأسف|معذرة).{0,80}?"
        r"(?:لا|لن|لم|ليس).{0,12}?(?:يمكن|أستطيع|نستطيع|أتمكن|بإمكان|أقدر)",
        r"(?:لا|لن) (?:يمكنني|أستطيع|أتمكن من|أقدر) (?:ال)?(?:مساعد|تلبي|تقديم|متابع|إكمال|تلخيص|إجاب)",
    ),
    "fa": (r"(?:متأسف\w*|متاسف\w*|ببخشید|عذر ?خواه\w*|پوزش).{0,80}?(?:نمی ?\u200c?توان|قادر نیست)",),
    "he": (r"(?:מצטער\S*|סליחה|אני מתנצל\S*|לצערי).{0,80}?(?:לא (?:יכול|ניתן|אוכל)|אין (?:באפשרות|ביכולת))",),
    "hi": (r"(?:मुझे खेद|क्षमा|माफ़?|मुझे अफ़?सोस|दुर्भाग्य).{0,100}?(?:नहीं|असमर्थ)",),
    "vi": (r"(?:(?:tôi )?(?:rất )?(?:xin lỗi|lấy làm tiếc|tiếc)|rất tiếc).{0,80}?không thể",),
    "id": (r"(?:maaf|mohon maaf|sayangnya).{0,80}?(?:tidak (?:dapat|bisa|mampu|boleh)|tak (?:dapat|boleh))",),
    "th": (r"(?:ขอโทษ|ขออภัย|เสียใจ).{0,80}?(?:ไม่สามารถ|ไม่ได้)",),
    "ro": (r"(?:îmi pare rău|scuz\w+|din păcate|regret).{0,80}?nu (?:pot|putem|sunt în măsură)",),
    "hu": (r"(?:sajnál\w*|elnézést|bocsánat\w*|sajnos).{0,80}?(?:nem (?:tud|áll|lehet|segít)|nem\b)",),
}
"""Language -> how a text begins that only declines."""

DECLINING = re.compile("|".join(f"(?:{pattern})" for patterns in DECLINES.values() for pattern in patterns), re.IGNORECASE | re.DOTALL)


def declines(text: str) -> bool:
    """Whether a text begins like a refusal in one of the languages of ``DECLINES``."""
    return DECLINING.match(text) is not None
