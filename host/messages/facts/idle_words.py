"""Words of a rule that bind nothing: memories, guesses, idioms, what others say or are quoted with."""

from __future__ import annotations

import re

# fmt: off
PAST = (r"(?!(?:exceed|need|feed|embed|proceed|succeed|seed|shed|open|reopen|listen|even|shorten|flatten|widen|loosen|tighten|harden|happen"
    r"|lengthen|strengthen|weaken|broaden|sharpen|deepen|often)\b)\w+")
"""What comes before "ed" or "en" in a memory ("never worked", "never written"); these words end so and can be forbidden."""

IDLE_ENGLISH: tuple[tuple[str, str], ...] = (
    ("never always only", r"\b (?:I|he|she|they|nobody|it|who|mother|sister|brother|boss|colleague|friend)"
        r" (?:['’]ve|['’]d|\s+(?:have|has|had|would))? \s+ (?:never|always|only) \s+"
        r" (?:saw|seen|had|was|were|did|got|been|heard|knew|thought"
        r"|asked|said|says?|wanted|meant|noticed|\w+ed) \b"),
    ("never", r"\b never \s+ (?:saw|seen|mind|had|was|were|been|heard|knew|thought|asked|wanted|noticed|worked"
        rf"|{PAST}(?:ed|en)\b|know\b|ends?\b|gets?\b)"
        r" | \b (?:the|an?|this|that|our|its) \s+ (?:\w+\s+){1,3}? never \s+ (?!\w+ss\b|focus\b|alias\b)\w{3,}s\b"),
    ("say says admit admits confess", r"\b (?:must|always|never|only) \s+ (?:say|admit|confess) s? \b"),
    ("must", r"^ must \s+ (?:I|we|be) \b | \b you \s+ must \s+ (?:be|have|think|feel|know) \b | \b (?:we|he|she|I) \s+ must \s+ be \b"
        r" | \b (?:he|she|they|I|we|it) \s+ must \s+ (?:hate|love|like|mean|think|feel|know) \b"
        r" | \b there \s+ must \s+ (?:be|have) \s+ (?:a\s+|some\s*)? (?:reason|mistake|bug|way|thing|one|error)?"
        r" | \b must \s+ be \s+ (?:because|why|the\s+\w+\s*[.!]|joking|kidding|tired|nice|hard|fun|wrong|some)"),
    ("can", r"\b can \s+ only \s+ (?:guess|hope|say|imagine|agree)"
        r" | \b can['’]t \s+ be \s+ (?:true|right|good|serious|real|that|helped|happening) \b"),
    ("have need had", r"\b (?:don['’]t|do\s+not) \s+ (?:have|need) \s+ to \b | \b once \s+ had \s+ to \b"),
    ("only", r"\b the \s+ only \s+ (?:one|thing|reason|problem|way) \b | \b (?:if|not) \s+ only \b"
        r" | \b (?:that|it|this) \s+ only \s+ \w+s \b"
        r" | \b only \s+ (?:just|a\s+few|joking|kidding|human) \b"),
    ("looking", r"\b I (?:['’]m|\s+am) \s+ looking \s+ (?:to|for) \b .*"),
    ("always", r"\b (?:as|like) \s+ always \b"),
    ("say says said claim claims claimed joke jokes joked think thinks insist insists believe believes",
        r"\b has \s+ to \s+ be \s+ said \b | (?<!\bI\ ) \b (?:says?|said|claims?|claimed|jokes?|joked|thinks?|insists?|believes?) \b .*"),
    ("must", r"\b I \s+ must \s+ (?:sound|look|seem|appear|come\s+across)\b"),
    ("life", r"\b never \s+ in \s+ (?:my|his|her|all\s+my) \s+ (?:\w+\s+)? life \b"),
    ("ask bothered started", r"^ (?:just\s+|please\s+|so\s+|and\s+)? don['’]t \s+ (?:even\s+)? ask \s*"
        r" (?: [.!]* $ | [,;–—-] | me\s+(?:why|how)\b.*)"
        r" | , \s* don['’]t \s+ (?:even\s+)? ask \s* (?: [.!]* $ | me\s+(?:why|how)\b.*)"
        r" | \b can['’]t \s+ be \s+ bothered \b | \b don['’]t \s+ get \s+ me \s+ started \b"),
    ("same", r"\b always \s+ the \s+ same \b"),
    ("told tells telling taught warned warns advised",
        r"(?<!\bI\ ) (?<!\bI['’]ve\ ) (?<!\bwithout\ ) (?<!\bbefore\ ) \b"
        r" (?:tells?|told|telling|taught|warn(?:s|ed)|advised) \s+"
        r" (?:me|us|him|her|them|everyone|people) \b (?! \s+ (?:first|before|when|if)\b) .*"),
    ("told", r"\b I (?: ['’]m | \s+am | \s+was | ['’]ve\s+been | \s+have\s+been | \s+keep\s+being | \s+got ) \s+ told \b .*"),
    ("hear heard read", r"^ (?:\w+,?\s+)? I (?:['’]ve)? \s+ (?:hear|heard|read) \b .*"),
    ("supposedly allegedly apparently reportedly", r"\b (?:supposedly|allegedly|apparently|reportedly) \b .*"),
    ("according", r"\b according \s+ to \s+ (?!me\b) .*"),
    ("reads states wrote writes recommends recommended warns advises suggests insists argues preaches swears",
        r"(?<!\bI\ ) (?<!\bthat\ ) \b"
        r" (?:reads|states|wrote|writes|recommend(?:s|ed)|warns|advises|suggests|insists|argues|preaches|swears) \b"
        r" \s* (?: (?:as\s+follows\s*)? : | that\b | [“_] | in\s+\w+\s+letters"
        r" | (?:to\s+)? (?:always|never|not|no|only|don['’]t)\b | (?:one|we|you|I|they) \b ) .*"),
    ("motto rule saying advice",
        r"\b (?:his|her|their|grandma\w*|mum\w*|mom\w*|dad\w*|boss\w*) ['’]?s? \s+ (?:\w+\s+)? (?:motto|rule|saying|advice)"
        r" \s* (?: is | was | : ) .*"),
    ("doch", r"\b darf \s+ doch \b"),
)
"""Memories, guesses, sayings: the words of a rule that bind nothing. Cut out before the rest is looked at."""

IDLE_CJK = re.compile(
    r"""
    必须(?:说|承认|给你|点赞|夸|表扬) | (?:总是?|老是?|一直|每回)(?:都)?(?:必须|要|得)(?!先)
  | 我(?:从来|一直|从|总是|总得|老是|经常|每次)(?:都)?(?:必须|没)? | (?:都|有人|他|她|人家)说.*
  | (?:妈|爸|爷爷|奶奶|老师|医生|大夫|老板|经理|主管|领导
        |朋友|同事|师傅|客户|房东|邻居|教练|网上|书上|上面|墙上|门上|牌子上?
        |合同|手册|说明书?|公告|通知|邮件|规定|政策)
    (?:们|里|上|中)?(?:也|都|总|总是|老是|常|经常|又|还|一直)?(?:说|讲|写着|写道|写的是|念叨|唠叨|告诉我).*
  | (?:听说|据说|传说|俗话说|常言道|有人说).*
  | (?:不要|别)问我?.{0,3}(?:为什么|怎么|为啥|原因).*
  | 不要太(?:感动|开心|惊讶|激动|羡慕|爽|好)|不能再\S{1,2}了
  | 别提.{0,4}了 | 不要(?:钱|紧张|客气|担心|误会) | 从来没 | 不得不 | 要不要 | 能不能 | 是不是
  | (?:必ず|絶対に?).{0,24}(?:と[はも]?思|でしょう|だろう|誰か|はず|気がし) | いつも(?:必ず)?
  | ^(?!.*(?:私|僕|俺)[はが]).*(?:(?:[だるいたうくむすつぬぶぐ]|ない|です)そう(?:です|だ|な|で)|らしい(?:です|ね|よ|が|けど)?
        |と(?:書いて|書かれて|言って|言われ|言い|言う|聞い|聞き
        |教わ|注意され|叱られ)[^。]*|とのこと(?:です|だ)?|って(?:言|書いて|聞い)[^。]*|そうですね?)[。！!…]?$
  | 必ず(?:という|って|とか) | んですけどね | ないで.{0,8}(?:たら|しまっ)
    """,
    re.VERBOSE,
)
# fmt: on
