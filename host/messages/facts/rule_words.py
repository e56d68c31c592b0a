"""The wording of rules in three languages: what binds, what only sounds like it, and what takes a rule back."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import lru_cache

CAPITAL = re.compile(r"(?<!\\)[A-Z]")


def compiled(form: str) -> re.Pattern[str]:
    """A form of words, for a text in small letters: that is found twice as quickly as one that takes both."""
    return re.compile(CAPITAL.sub(lambda letter: letter[0].lower(), form), re.VERBOSE)


# fmt: off
CLAUSE = r"(?:^|[,;:–—(]\s*|\b(?:and|but|so|or|then|please|also|just|again|still|to)\s+)"
"""Where an order can begin: at the start of a clause, or after a word that leads to one."""

ORDER = r"(?:^|[;:–—(]\s*|(?:^|,\s*|\b(?:and|but)\s+)(?:and|but|so|then|please|also|just|instead|now)\s+)"
"""Where a bare imperative can begin: what stands after "we", "to" or "it" is told, not ordered."""

PAST = (r"(?!(?:exceed|need|feed|embed|proceed|succeed|seed|shed|open|reopen|listen|even|shorten|flatten|widen|loosen|tighten|harden|happen"
    r"|lengthen|strengthen|weaken|broaden|sharpen|deepen|often)\b)\w+")
"""What comes before "ed" or "en" in a memory ("never worked", "never written"); these words end so and can be forbidden."""

TURN = r"(?:(?:actually|no|okay?|sorry|please|then|so|well|wait|right|yes|rather|just)\b ,?\s+)"
"""Words that lead from what was said before to an order."""

HABIT = r"""(?: use \b (?! .* \b(?:it|that|this|them) \s* [.!]? $ )
      (?! \s+ (?:it|that|this|them|of|is|was|the\s+(?:other|same|first|second|last))\b )
    | (?:answer|reply|respond|indent|format) \s+ (?:\w+\s+){0,2}? (?:in|with) \b )"""
"""Orders that are of how things are done, not of one task."""

ENGLISH: tuple[tuple[str, str], ...] = (
    ("must mustn", r"\b must (?:\s+not | n't)? \b (?! \s+(?:say|admit|confess|have\s+(?:been|gone|had|\w+ed)|really)\b )"),
    ("never", r"(?<!\b[It]\ ) (?! never \s+ (?:have|has|had)\b) (?<!\b(?:he|it)\ ) (?<!\bshe\ ) (?<!\b(?:they|that)\ )"
        rf" never \b (?! \s+ (?:{PAST}ed|came|went|ran|got|ends?|gets)\b )"),
    ("always", rf"{CLAUSE} always \b (?! \s+ (?:an?\s+(?:pleasure|joy|good|nice|bit)|nice|fun|good|great|happy|\w+ed)\b)"
        r" | \b (?:should|shall|will|are|is|be|we|you|please|can) \s+ always \b (?! \s+ (?:been|have|get|end|seem|feel|love|like|enjoy)\b)"
        r" | [, ] \s* always \s* (?:[.!]? $ | [,;])"),
    ("only", rf"{CLAUSE} only \b"
        r" (?! \s+ (?:that|then|now|because|after\s+that|just|yesterday|today|last|(?:one|two|three|four|five|\d+)\s+of)\b )"
        r" | \b only \s* (?:please\s*)? (?:[.,;:!)]|$) | ^ \w+ \s+ only \b"),
    ("only", r"\b (?:I|we|you|may|can|should|shall|will|use|using|with|from|in|on|into|at|goes|go|touch|change|run) \s+ only \b"
        r" | \b (?:is|are) \s+ only \s+ (?:for|to|by|with|from|via|between|during|after|when|if|allowed|open)\b"
        r" | \b only \s+ gets? \s+ (?!\w+(?:er|ing)\b)"
        r" | (?<!\bis\ ) (?<!\bwas\ ) (?<!\bare\ ) (?<!['’]s\ ) \b only"
        r" \s+ (?:if|when|after|with|on|in|for|by|from|through|via|between|during|the|those|these|files|what) \b"),
    ("do don", r"(?<!\b[Iis]\ ) (?<!s\ ) (?<!\bwe\ ) (?<!\b(?:they|that)\ ) (?<!\bwho\ ) (?<!\byou\ ) (?<!\bwhich\ )"
        r" (?:do\s+not|don['’]t) \b (?! \s+ (?:worry|mind|know|think|remember|care|bother|hesitate|you|get\s+me|ask\s+me)\b )"),
    ("don do", r"\b (?:do\s+not|don['’]t) \s+ you \s+ (?:ever|dare) \b"),
    ("not", r"\b you (?:\s+are|['’]re) \s+ not \s+ to \b"),
    ("stop refrain", rf"{ORDER} (?: stop \s+ (?!being\b) \w+ing | refrain \s+ from) \b"),
    ("use run call write",
        rf"{ORDER} (?:use|run|call|write) \b [^;]{{1,60}}? (?: ,? \s+ (?:instead\s+of|rather\s+than) | , \s* (?:not|never)) \s"),
    ("remember", r"^ (?:please\s+|also\s+|and\s+)* remember (?: \s* [:,] | \s+ (?:to|that) \b)"),
    ("mind", r"^ (?:please\s+|also\s+)* (?:keep|bear) \s+ in \s+ mind \b"),
    ("important", r"^ (?:very\s+|really\s+)? important \s* [:!]"),
    ("important essential crucial vital critical",
        r"\b it (?:['’]s|\s+is) \s+ (?:\w+\s+)? (?:important|essential|crucial|vital|critical) \s+ that \b"),
    ("want", r"\b I \s+ (?:do\s+not|don['’]t) \s+ want \b"),
    ("not shouldn", r"\b (?:should|shall|may) \s+ not \b | \b shouldn['’]t \b"),
    ("can cannot may", r"\b (?:cannot|can['’]t|can\s+not|may\s+not) \s+ (?:be|exceed|change|go|leave|contain|touch) \b"),
    ("to", r"(?<!\b[Ii]\ ) (?<!\bhe\ ) (?<!\bshe\ ) (?<!n['’]t\ ) (?<!\bnot\ ) \b (?:has|have|needs?) \s+ to \s+"
        r" (?:be|stay|remain|come|go|work|run|fit|keep|pass) \b"),
    ("prefer preferably avoid", rf"\b prefer(?:ably)? \b | {CLAUSE} avoid \b"),
    ("every each", r"^ (?:please\s+)? \w+ \s+ (?:every|each) \b"),
    ("sure ensure", r"\b(?:make\s+sure|ensure|be\s+sure\s+to)\b"),
    ("at", r"\b at \s+ (?:most|least) \s+ (?:\d|one|two|three|four|five|ten|once|twice|half|a\b) | \b at \s+ all \s+ times \b"),
    ("than", r"\b (?:no|not) \s+ (?:more|less|later|earlier|longer|higher|lower|fewer|bigger|larger) \s+ than \b"
        r" (?! \s+ (?:usual|ever|before|I|you|needed?)\b)"),
    ("no", r"\b (?:under|in) \s+ no \s+ (?:circumstances|case) \b | \b may \s+ no \s+ longer \b"),
    ("off", r"\b off[- ]limits \b | \b hands \s+ off \b"),
    ("forbidden prohibited mandatory allowed banned taboo", r"\b (?:forbidden|prohibited|mandatory|not\s+allowed|banned|taboo) \b"),
    ("limit ceiling cap maximum minimum",
        r"\b (?:limit|ceiling|cap|maximum|minimum) \b [^.,;]{0,20} \b (?:is|are|stays?|remains?) \b"),
    ("keep leave", r"^ (?:keep|leave) \b [^.]{0,60} \b"
        r" (?:under|below|above|alone|as\s+(?:it|they)\s+(?:is|are)|unchanged|untouched|at|out|on|off|closed|open|shut) \b"),
    ("stay keep stick", r"(?:^|,\s*) (?:stay|keep) \s+ (?:out|away|off|below|under|within|clear) \b | ^ stick \s+ to \b"),
    ("no", rf"""{CLAUSE} no \s+ (?! (?:problem|idea|need|worr|thank|luck|doubt|wonder|one\b|reason|error|change|rush|hurry|matter|question
        |kidding|clue|hint|sign|trace|\w+\s+(?:left|yet|found|so\s+far|today|here|anymore|either)\b|news
        |more\s+quest|way\b|longer|difference|surprise|big|it\b|that\b|I\b|this\b|hits?\b|results?\b|result) )
        (?! .* \b (?:el|la|los|las|que|en|una|nada|con|está|esta|por|para|mi|tu|sé|hay)\b ) [a-z]"""),
    ("nothing nobody one none", r"\b (?:nothing|nobody|no\s+one|none) \s+"
        r" (?:may|must|should|shall|can|gets?|goes|leaves?|on|in|that|without|to\s+(?:go|leave|be|change)) \b"),
    ("else", r"\b (?:nothing|nobody|no\s+one|anything|anyone) \s+ else \b"),
    ("without", r"\b without \s+ (?:asking|my|telling|approval|permission) \b"),
    ("now", r"\b from \s+ now \s+ on \b"),
    ("until unless before", r"\b (?:until|unless|before) \s+ I(?:['’]ve|\s+have)? \s+ (?:say|said|tell|have|ask|confirm|approve) \b"),
    ("me", r"\b (?:ask|tell|check\s+with) \s+ me \s+ (?:first|before) \b"),
    ("my", r"\b (?:needs?|wait\s+for|not?\s+without) \s+ my \s+"),
    ("before first", r"\b I \s+ (?:want|need|have) \s+ to \s+ (?:see|approve|review|read|confirm|sign) \b .* \b (?:before|first) \b"),
    ("not nothing none", r"\b (?:not|nothing|none) \s+ (?:before|until|without|outside|above|below|beyond) \b (?!\s+time\b)"
        r" | \b (?:not|nothing|none) \s+ (?:over|under|past|after) \s+ [\d$€£]"),
    ("to", r"\b (?:is|are) \s+ not \s+ to \s+ be \b | \b (?:careful|take\s+care) \s+ not \s+ to \b"),
    ("any matter exception strictly exclusively", r"\b (?:not|nobody|nothing) \b .* \b under \s+ any \s+ circumstances \b"
        r" | \b no \s+ matter"
        r" \s+ what \b | \b without \s+ exception \b | \b (?:strictly|exclusively) \b"),
    ("stay stays remain remains",
        r"\b (?:stays?|remains?) \s+ (?:strictly\s+)? (?:private|secret|confidential|locked|closed|untouched|offline)\b"),
    ("keep", r"^ (?:please\s+|and\s+|also\s+)* keep \s+ (?:it|this|that|everything|all|them|the\s+\w+|your\s+\w+|answers?|replies) \s+"
        r" (?!coming|going|up\b|on\b|working|running)\w+"),
    ("every each", rf"^ {TURN}* (?:every|each) \s+ (?!(?:time|day|week|now|test)\b)\w+ \s+ (?:\w+\s+)?"
        r" (?:gets|has\s+to|goes\s+(?:to|through)) \b"),
    ("all everything", r"^ (?:and\s+|also\s+)? (?:all|everything) \s+ (?:\w+\s+){0,2} (?:in|as|with) \s"
        r" (?! .* \b (?:is|are|was|were|has|have|fail\w*|pass\w*|work\w*|went|got|came|looks?|seems?|good|fine|goes|ok)\b)"),
    ("wait", r"^ (?:please\s+)? (?:wait|hold\s+off) \s+ (?:with|until|till|on) \b"),
    ("max min maximum minimum", r"^ (?! .* \b (?:took|was|were|is)\b) .* \b (?:max|min)(?:imum)? \s+ \d"),
    ("except unless", r"\b (?:except|unless) \b"),
    ("instead", rf"^ {TURN}* {HABIT} [^?;]{{1,60}} \b instead \s* [.!]? $"),
    ("actually sorry no rather", rf"^ (?:actually|sorry|no|rather) , \s* {TURN}* {HABIT}"),
    ("always", r"^ (?:actually|sorry|rather|okay?|instead) \s+ always \s+"
        r" (?:use|run|write|answer|reply|respond|add|put|keep|ask|call|name|start|check|test|commit|push|deploy|format|include) \b"),
    ("always", rf"^ {TURN}* (?!(?:the|these|those|all|its|their)\b) \w+ \s+ (?:names?|messages?|titles?|subjects?)"
        r" \s+ always \s+ (?:start|begin|end)s? \s+ with \b"),
    ("every each", rf"^ {TURN}* (?:every|each) \s+ (?:commit|pr|pull\s+request|mr|merge(?:\s+request)?|branch|migration|change"
        r"|release|feature) \s+ (?:needs|requires) \s+ (?:an?|its\s+own|one|two) \s+"
        r" (?!\w*\s*(?:minute|hour|second|while|day|week|month|moment)s?\b)"),
    ("nobody one", r"^ (?:nobody|no\s+one) \s+ (?:but|besides|other\s+than) \s+ (?:me|us|\w+) \s+ (?:pushes|merges|deploys|commits|releases"
        r"|edits|writes|deletes|touches|changes|approves|restarts|publishes) \b"),
    ("nobody one", r"^ (?:nobody|no\s+one) \s+ (?:but|besides|except|other\s+than) \s+ \w+ \s+"
        r" (?!(?:knows|likes|has|is|was|understands|cares|remembers|wants|thinks|sees|uses)\b)\w+s \b"),
    ("like", r"\b I \s+ (?:do\s+not|don['’]t) \s+ like \b [^.;]{1,40} [;:–—,] \s* (?:please\s+)? use \b"
        r" (?! \s+ (?:something|anything|whatever)\b)"),
)
"""The English forms of a rule, each with words (in small letters) of which a sentence of that form has one."""

EUROPEAN: tuple[tuple[str, str], ...] = (
    ("darf darfst dürfen dürft", r"\b (?:darf|darfst|dürfen|dürft) \b .* \b (?:nicht|nie|niemals|nur|kein\w*) \b"),
    ("muss musst müssen", r"(?<!\bich\ ) (?<!\bdas\ ) \b (?:muss|musst|müssen) \b (?! \s+ (?:ich|man|wohl|man\s+sagen)\b)"),
    ("bitte", r"\b bitte \b .* \b (?:nie|niemals|nicht|nur|immer|nichts|kein\w*) \b"),
    ("kein keine keinen",
        r"^ keine?n? \s+ (?!(?:Ahnung|Sorgen?|Zeit|Lust|Fragen?|Idee|Angst|Probleme?|Wunder|Stress|Eile|Ding|Thema|Panik)\b)\w+"),
    ("keinen verboten erlaubt", r"\b (?:auf\s+keinen\s+fall|unter\s+keinen\s+umständen|verboten|nicht\s+erlaubt) \b"),
    ("immer nie niemals nur", r"^ (?:immer|niemals?|nur) \s+ .* (?:en|n) [.!]? $"),
    ("ne n", r"^ (?:s['’]il\s+(?:te|vous)\s+pla[iî]t\s*,?\s*)? n(?:e\s|['’]) .{1,40}? \b (?:pas|jamais|rien) \b"
        r" | ^ ne \s+ (?:pas|jamais) \b"),
    ("faut", r"\b il \s+ (?:ne\s+)? faut \b (?! \s+ (?:dire|avouer)\b)"),
    ("dois devez doit doivent", r"\b (?:dois|devez|doit|doivent) \b (?! \s+ être\s+(?:fatigué|content))"),
    ("interdit obligatoire accord uniquement", r"\b (?:interdite?s?|obligatoires?|sans\s+mon\s+accord) \b | ^ uniquement \b"),
    ("nunca jamás no", r"^ (?:por\s+favor\s*,?\s*)? (?: (?:nunca|jamás) \s+ (?:(?:lo|la|le|me|te|se)\s+)?"
        r" (?!has\b)\w{2,}[ae]s \b | no \s+ \w{2,}[ae]s \s+ (?:el|la|los|las|mi|tu|su|nada|nunca|sin|en|con|un|una|al|del|más)\b)"),
    ("debe debes deben puedes puede", r"\b (?:no\s+)? (?:debes?|deben) \b | \b no \s+ (?:puedes?|se\s+puede) \b"),
    ("siempre", r"^ siempre \s+ (?:responde|usa|utiliza|escribe|contesta|pon|haz|pregunta|incluye|revisa|verifica|guarda|en|con)\b"),
    ("prohibido obligatorio proibido proibida obrigatório", r"\b (?:prohibido|obligatorio|proibid[oa]|obrigatóri[oa]) \b"),
    ("nunca não sempre", r"^ (?:por\s+favor\s*,?\s*)? (?:nunca|não|jamais) \s+ \w{2,}[eam] \s | \b não \s+ pode[ms]? \b"
        r" | ^ sempre \s+ (?:responda|use|escreva|pergunte|inclua|verifique|em|com)\b"),
    ("deve devem", r"\b devem? \b (?! \s+ ser\s+(?:por|o|a)\b)"),
)
"""The forms of a rule in German, French, Spanish and Portuguese, with words as above."""

CHINESE = r"""
    必须(?!说|承认|的[！!。]?$) | 务必 | 严禁 | 禁止 | 切勿 | 请勿 | 切记 | (?<!要)不要(?!紧) | (?<!能)不能(?!不) | 不得(?!不|了|已)
    | 不许 | 不准
    | 不允许
  | 不可以 | 只能 | 只许 | 只可以 | 只准 | 只允许 | 仅限 | 一律 | 绝不 | 绝对不 | 决不 | 永远不 | 始终(?!没) | 优先
  | 最多\s*[\d一两二三四五六七八九十半] | 千万 | 不应该? | 只有.{1,20}才 | 一定不 | 都要 | 仅(?=[用在对限可能])
  | 至少\s*[\d一两二三四五六七八九十半] | 不超过 | 不得超过
  | (?<![特区分个识鉴级类性判离告差派辨])别(?![的人提墅名处样针致扭急慌怕闹逗说管看担客开介难紧在生弄是]) | 一定要
  | (?:以后|今后|从现在起|每次).{0,12}(?:都|先|一律|只)(?!是|有|会|很|不) | 统一(?:用|使用|写|采用|改成|按)
  | (?:^|[，；,]\s*|请)只(?!有|是|剩|花|差|好|不过|见|需|得|怕|知|记|想|说|过|用了) | 不可(?!能|思) | 勿(?=\w) | 都要先
  | (?:^|[，；,]\s*)(?:那就?|请|还是)?(?:以后|今后)?(?:改成|改用|改为|换成)用?\s*(?:中文|汉语|英文|英语|日文|日语)
    \S{0,4}(?:回答|回复|写|输出|交流)吧?(?:[，；,。！]|$)
  | ^(?:那就?|请|还是)?(?:改用|换用)\s*[A-Za-z0-9_.-]+(?:\s[A-Za-z0-9_.-]+)?\s*吧?[。！]?$
"""

JAPANESE = r"""
    ないで(?:ください|下さい|ほしい|欲しい|もらい|いただ|くださ|[ねよな]?(?:。|！|$)) | 禁止 | 厳禁 | 必須
    | (?:必ず(?!しも|や)|絶対に?).{0,60}?(?:ください|下さい|こと|お願|ない|[てで][ね。！]|必要|べき) | 許可なく | 限定 | 控え | 避けて
    | 以外.{0,12}(?:ない|禁止|ません) | (?:て|で)は(?:いけ|なら|だめ|ダメ|なりま)
  | なければ(?:なら|なりま|いけ) | しか(?![たし]).{1,20}ない
  | (?:だけ|のみ)(?:を|に|で|と)?(?:.{0,16}(?:使|し|変|実行|対象|お願|ください)|です|。|と) | べからず | は不可
  | 優先 | (?:ず|ないよう)に(?:し|お願|ご|気) | 以内(?:に|で|と) | までに.{0,12}(?:こと|必要)
  | (?:ない|(?<!いう)(?<=[うくすつぬふむぐぶる]))こと。?$ | 厳守
  | は(?:変え|使い|触り|消し|変更し|公開し|上げ)ません | 常に | 触らな | 勝手に
  | ^(?:やはり|やっぱり).{1,40}(?:に(?:変更)?して|で(?:書い|答え)て)ください
"""

CJK_RULE = re.compile(f"{CHINESE}|{JAPANESE}", re.VERBOSE)

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
    ("to", r"\b (?:don['’]t|do\s+not) \s+ (?:have|need) \s+ to \b | \b once \s+ had \s+ to \b"),
    ("only", r"\b the \s+ only \s+ (?:one|thing|reason|problem|way) \b | \b (?:if|not) \s+ only \b"
        r" | \b (?:that|it|this) \s+ only \s+ \w+s \b"
        r" | \b only \s+ (?:just|a\s+few|joking|kidding|human) \b"),
    ("always", r"\b (?:as|like) \s+ always \b"),
    ("say says said claim claims claimed joke jokes joked think thinks insist insists believe believes",
        r"\b has \s+ to \s+ be \s+ said \b | (?<!\bI\ ) \b (?:says?|said|claims?|claimed|jokes?|joked|thinks?|insists?|believes?) \b .*"),
    ("doch", r"\b darf \s+ doch \b"),
)
"""Memories, guesses, sayings: the words of a rule that bind nothing. Cut out before the rest is looked at."""

IDLE_CJK = re.compile(
    r"""
    必须(?:说|承认|给你|点赞|夸|表扬) | (?:总是?|老是?|一直|每回)(?:都)?(?:必须|要|得)(?!先)
  | 我(?:从来|一直|从|总是|总得|老是|经常|每次)(?:都)?(?:必须|没)? | (?:都|有人|他|她|人家)说.*
  | 不要(?:钱|紧张|客气|担心|误会) | 从来没 | 不得不 | 要不要 | 能不能 | 是不是
  | (?:必ず|絶対に?).{0,24}(?:と[はも]?思|でしょう|だろう|誰か|はず|気がし) | いつも(?:必ず)? | んですけどね | ないで.{0,8}(?:たら|しまっ)
    """,
    re.VERBOSE,
)

NOT = r"(?<!never\ ) (?<!not\ ) (?<!n['’]t\ )"
WHAT_IS_LIFTED = r"""(?: what \b | about \b | that [.!]? $ | (?:the|that|my|this|all|any|these|those) \s [^.,;]{0,40}
    \b (?:rule|limit|ban|freeze|restriction|constraint|lock|embargo|condition|requirement|instruction|order|request|said|told|asked) )"""
"""What is taken back is a rule: who is told to ignore a folder, or to drop a table, is given one."""

RESUMED = r"""^ (?: (?:please|okay?|now|so|then) \b ,?\s+ )* (?:write|use|add|include|show|keep|answer|reply|format|log) \b
    (?! .* \b (?:instead|rather|not|never|only|always) \b ) [^.,;]{1,40} \b again \s* [.!]? $"""
"""An order to do again what was done before: where it was forbidden, it no longer is."""

LIFT = "scrap|ignore|drop|lift|withdraw|cancel|revoke"
ENGLISH_RELEASE: tuple[tuple[str, str], ...] = (
    ("forget", rf"{NOT} \b forget \s+ {WHAT_IS_LIFTED} | \b (?:would|will|can) \s+ .{{1,20}} , \s+ forget"),
    (" ".join(f"{verb}{ending}" for verb in LIFT.split("|") for ending in ("", "s", "ed", "ping", "ting")),
        rf"{NOT} \b (?:{LIFT}) (?:ping|ting|s|ed)? \s+ {WHAT_IS_LIFTED}"),
    ("feel", r"\b feel \s+ free \s+ to \b"),
    ("lifted gone over off canceled cancelled withdrawn dropped longer dead void history",
        r"\b (?:rule|limit|ban|freeze|restriction|constraint|lock|embargo|condition)s?"
        r" \b [^.;]{0,40} \b (?:is|are|was|has\s+been|be) \s+ (?:now\s+)?"
        r" (?:lifted|gone|over|off|cancell?ed|withdrawn|dropped|dead|void|history|no\s+longer) \b"),
    ("longer", r"\b no \s+ longer \s+ (?:appl|need|necessary|hold|valid|bind|counts?|true)"),
    ("apply hold count", r"\b (?:doesn['’]t|does\s+not|don['’]t) \s+ (?:apply|hold|count) \s+ (?:any|now)"),
    ("you we", r"\b (?:you|we) \s+ (?:may|can|are\s+(?:free|allowed)) \b (?!\s+(?:only|never|not)\b)"),
    ("allowed permitted open free unlocked", r"\b (?:is|are) \s+ (?:now\s+)? (?:allowed|permitted|open|free|unlocked)"
        r"(?:,|;|[.!]?$|\s+(?:now|again|after\s+all|from|to\s+you|for\s+you)\b)"),
    ("fine ok okay", r"\b (?:is|are) \s+ (?:fine|ok|okay) \s+ (?:now|again|after\s+all|from) \b"),
    ("needed necessary required", r"\b is \s+ (?:no\s+longer|not) \s+ (?:needed|necessary|required) \b"),
    ("to", r"\b (?:don['’]t|do\s+not|no) \s+ (?:have|need) \s+ to \b"),
    ("again", RESUMED),
)
"""The English forms of a permission or withdrawal, with words as above."""

CJK_RELEASE = r"""
    (?:限制|规定|禁令|要求|规则|冻结|约束).{0,8}(?:取消|解除|作废|不用|放开) | (?:取消|解除|放开).{0,12}(?:限制|规定|禁令|要求|规则|冻结)
    | 可以[^，。；,;]{0,24}了 | 不用再 | 不必再 | 不再(?:需要|限制|要求)
  | 解除 | 撤回 | 取り消し | (?:て|で)も?(?:いい|よい|良い|構い|かまい|大丈夫|結構|OK) | もう(?:必要|不要)
  | なくて(?:も|いい|よい|構|結構|大丈夫) | 解禁
"""

WORDS = re.compile(r"[^\W\d_]+")

CJK_TAKEN_BACK = re.compile(CJK_RELEASE, re.VERBOSE)

PART_END = re.compile(r"[,;:]\s+|[，；：、]\s*|\s[–—-]\s|\b(?:and|but)\b")


@lru_cache(maxsize=256)
def in_small(sentence: str) -> tuple[str, frozenset[str]]:
    """A sentence in small letters, as the forms are, and its words."""
    small = sentence.lower()
    return small, frozenset(WORDS.findall(small))


class Forms:
    """The forms of a kind of sentence, of which only those are tried whose words a sentence has."""

    def __init__(self, forms: tuple[tuple[str, str], ...]) -> None:
        self._by_word: defaultdict[str, list[re.Pattern[str]]] = defaultdict(list)
        for words, form in forms:
            whole = compiled(form)
            for word in words.split():
                self._by_word[word].append(whole)

    def has(self, sentence: str) -> bool:
        """Whether a sentence has one of the forms."""
        small, forms = self._of(sentence)
        return any(form.search(small) for form in forms)

    def without(self, sentence: str) -> str:
        """A sentence in small letters without what has one of the forms."""
        small, forms = self._of(sentence)
        for form in forms:
            small = form.sub("_", small)
        return small

    def _of(self, sentence: str) -> tuple[str, list[re.Pattern[str]]]:
        small, words = in_small(sentence)
        known = self._by_word.keys() & words
        if len(known) < 2:
            return small, [form for word in known for form in self._by_word[word]]
        return small, list(dict.fromkeys(form for word in sorted(known) for form in self._by_word[word]))


ENGLISH_RULES = Forms(ENGLISH + EUROPEAN)
ENGLISH_RELEASES = Forms(ENGLISH_RELEASE)
IDLE = Forms(IDLE_ENGLISH)
IS_RESUMED = re.compile(RESUMED, re.IGNORECASE | re.VERBOSE)
# fmt: on


def releases(sentence: str) -> bool:
    """Whether a sentence permits something or takes a rule back."""
    return ENGLISH_RELEASES.has(sentence) or (not sentence.isascii() and CJK_TAKEN_BACK.search(sentence) is not None)


def without_idle(sentence: str) -> str:
    """A sentence in small letters without the words of a rule that bind nothing."""
    small = IDLE.without(sentence)
    return small if small.isascii() else IDLE_CJK.sub("_", small)


def parts_that_release(sentence: str) -> list[str]:
    """The clauses of such a sentence that do so; the whole sentence where none does by itself."""
    return list(filter(releases, PART_END.split(sentence))) or [sentence]
