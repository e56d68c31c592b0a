"""The wording of rules in three languages: what binds, what only sounds like it, and what takes a rule back."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from host.messages.facts.idle_words import IDLE_CJK, IDLE_ENGLISH, PAST

CAPITAL = re.compile(r"(?<!\\)[A-Z]")


def compiled(form: str) -> re.Pattern[str]:
    """A form of words, for a text in small letters: that is found twice as quickly as one that takes both."""
    return re.compile(CAPITAL.sub(lambda letter: letter[0].lower(), form), re.VERBOSE)


# fmt: off
CLAUSE = r"(?:^|[,;:–—(]\s*|\b(?:and|but|so|or|then|please|also|just|again|still|to)\s+)"
"""Where an order can begin: at the start of a clause, or after a word that leads to one."""

ORDER = r"(?:^|[;:–—(]\s*|(?:^|,\s*|\b(?:and|but)\s+)(?:and|but|so|then|please|also|just|instead|now)\s+)"
"""Where a bare imperative can begin: what stands after "we", "to" or "it" is told, not ordered."""

TURN = r"(?:(?:actually|no|okay?|sorry|please|then|so|well|wait|right|yes|rather|just)\b ,?\s+)"
"""Words that lead from what was said before to an order."""

HABIT = r"""(?: use \b (?! .* \b(?:it|that|this|them) \s* [.!]? $ )
      (?! \s+ (?:it|that|this|them|of|is|was|the\s+(?:other|same|first|second|last))\b )
    | (?:answer|reply|respond|indent|format) \s+ (?:\w+\s+){0,2}? (?:in|with) \b )"""
"""Orders that are of how things are done, not of one task."""

ENGLISH: tuple[tuple[str, str], ...] = (
    ("must mustn", r"\b must (?:\s+not | n't)? \b (?! \s+(?:say|admit|confess|have\s+(?:been|gone|had|\w+ed)|really)\b )"),
    ("never", r"never \b (?<!\b[It]\ never) (?<!\b(?:he|it)\ never) (?<!\bshe\ never) (?<!\b(?:they|that)\ never)"
        rf" (?! \s+ (?:have|has|had|{PAST}ed|came|went|ran|got|ends?|gets)\b )"),
    ("always", rf"{CLAUSE} always \b (?! \s+ (?:an?\s+(?:pleasure|joy|good|nice|bit)|nice|fun|good|great|happy|\w+ed)\b)"
        r" | \b (?:should|shall|will|are|is|be|we|you|please|can) \s+ always \b (?! \s+ (?:been|have|get|end|seem|feel|love|like|enjoy)\b)"
        r" | [, ] \s* always \s* (?:[.!]? $ | [,;])"),
    ("always", r"^ (?!(?:I|he|she|it|they|we|you|my|the|his|her|our|their|this|that|these|those"
        r"|people|everybody|everyone|kids|trains|buses)\b)"
        r" (?:[\w£$€.%]+,?\s+){1,6}? always \s+ (?:goe?s?|comes?|needs?|gets?|requires?|pass(?:es)?|lands?|runs?|stays?|includes?|belongs?)"
        r" \s+ (?:to|through|via|by|with|in|on|an?|the|into|under|first|last|behind|past)\b"),
    ("only", rf"{CLAUSE} only \b"
        r" (?! \s+ (?:that|then|now|because|after\s+that|just|yesterday|today|last|(?:one|two|three|four|five|\d+)\s+of)\b )"
        r" | \b only \s* (?:please\s*)? (?:[.,;:!)]|$) | ^ \w+ \s+ only \b"),
    ("only", r"only \b (?<!\wonly) (?: (?<=\bI\sonly) | (?<=\b(?:we|in|on|at|go)\sonly)"
        r" | (?<=\b(?:you|may|can|use|run)\sonly) | (?<=\b(?:will|with|from|into|goes)\sonly)"
        r" | (?<=\b(?:shall|using|touch)\sonly) | (?<=\b(?:should|change)\sonly)"
        r" | (?:(?<=\bis\sonly)|(?<=\bare\sonly)) \s+ (?:for|to|by|with|from|via|between|during|after|when|if|allowed|open)\b"
        r" | \s+ gets? \s+ (?!\w+(?:er|ing)\b)"
        r" | (?<!\bis\ only) (?<!\bwas\ only) (?<!\bare\ only) (?<!['’]s\ only)"
        r" \s+ (?:if|when|after|with|on|in|for|by|from|through|via|between|during|the|those|these|files|what) \b )"),
    ("do don", r"do (?<!\b[Iis]\ do) (?<!s\ do) (?<!\bwe\ do) (?<!\b(?:they|that)\ do) (?<!\bwho\ do) (?<!\byou\ do)"
        r" (?<!\bwhich\ do) (?:\s+not|n['’]t) \b"
        r" (?! \s+ (?:worry|mind|know|think|remember|care|bother|hesitate|you|get\s+me|ask\s+me)\b )"),
    ("don do", r"\b (?:do\s+not|don['’]t) \s+ you \s+ (?:ever|dare) \b"),
    ("not", r"\b you (?:\s+are|['’]re) \s+ not \s+ to \b"),
    ("stop refrain", rf"{ORDER} (?: stop \s+ (?!being\b) \w+ing | refrain \s+ from) \b"),
    ("instead rather not never",
        rf"{ORDER} (?:use|run|call|write) \b [^;]{{1,60}}? (?: ,? \s+ (?:instead\s+of|rather\s+than) | , \s* (?:not|never)) \s"),
    ("remember", r"^ (?:please\s+|also\s+|and\s+)* remember (?: \s* [:,] | \s+ (?:to|that) \b)"),
    ("mind", r"^ (?:please\s+|also\s+)* (?:keep|bear) \s+ in \s+ mind \b"),
    ("important", r"^ (?:very\s+|really\s+)? important \s* [:!]"),
    ("important essential crucial vital critical",
        r"\b it (?:['’]s|\s+is) \s+ (?:\w+\s+)? (?:important|essential|crucial|vital|critical) \s+ that \b"),
    ("want", r"\b I \s+ (?:do\s+not|don['’]t) \s+ want \b"),
    ("should shall may shouldn", r"\b (?:should|shall|may) \s+ not \b | \b shouldn['’]t \b"),
    ("can cannot may", r"\b (?:cannot|can['’]t|can\s+not|may\s+not) \s+ (?:be|exceed|change|go|leave|contain|touch) \b"),
    ("has have need needs", r"[hn] (?<!\w[hn]) (?<!\b[Ii]\ [hn]) (?<!\bhe\ [hn]) (?<!\bshe\ [hn]) (?<!n['’]t\ [hn])"
        r" (?<!\bnot\ [hn]) (?:(?<=h)as|(?<=h)ave|(?<=n)eeds?) \s+ to \s+"
        r" (?:be|stay|remain|come|go|work|run|fit|keep|pass) \b"),
    ("has needs",
        r"^ (?!I\b|we\b|he\b|she\b|it\b) [^,;.]{2,60}? \b (?:has|needs) \s+ to \s+ [^;.]{2,80} , \s* not \s+ [^,;.]{2,30} [.!]? $"),
    ("prefer preferably avoid", rf"\b prefer(?:ably)? \b | {CLAUSE} avoid \b"),
    ("every each", r"^ (?:please\s+)? \w+ \s+ (?:every|each) \b"),
    ("sure ensure", r"\b(?:make\s+sure|ensure|be\s+sure\s+to)\b"),
    ("most least times", r"\b at \s+ (?:most|least) \s+ (?:\d|one|two|three|four|five|ten|once|twice|half|a\b)"
        r" | \b at \s+ all \s+ times \b"),
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
    ("now", r"\b from \s+ now \s+ on \b"
        r" (?! ,? \s+ (?:[Ii]['’](?:m|ll)|[Ii]\s+(?:am|will)"
        r"|(?:he|she|it|they|there|the|my|our|his|her|this|that) \b .* (?:\b(?:is|are|will)\b|['’]s\b)) )"),
    ("until unless before", r"\b (?:until|unless|before) \s+ I(?:['’]ve|\s+have)? \s+ (?:say|said|tell|have|ask|confirm|approve) \b"),
    ("ask tell check", r"\b (?:ask|tell|check\s+with) \s+ me \s+ (?:first|before) \b"),
    ("my", r"\b (?:needs?|wait\s+for|not?\s+without) \s+ my \s+"),
    ("before first", r"\b I \s+ (?:want|need|have) \s+ to \s+ (?:see|approve|review|read|confirm|sign) \b .* \b (?:before|first) \b"),
    ("not nothing none", r"\b (?:not|nothing|none) \s+ (?:before|until|without|outside|above|below|beyond) \b (?!\s+time\b)"
        r" | \b (?:not|nothing|none) \s+ (?:over|under|past|after) \s+ [\d$€£]"),
    ("not", r"\b (?:is|are) \s+ not \s+ to \s+ be \b | \b (?:careful|take\s+care) \s+ not \s+ to \b"),
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

ONLY_HERE = "只(?!有|是|剩|花|差|好|不过|见|需|得|怕|知|记|想|说|过|用了)"
IN_TONGUE = r"""(?:那就?|请|还是)?(?:以后|今后)?(?:改成|改用|改为|换成)用?\s*(?:中文|汉语|英文|英语|日文|日语)
    \S{0,4}(?:回答|回复|写|输出|交流)吧?(?:[，；,。！]|$)"""
FROM_NOW = ".{0,12}(?:都|先|一律|只)(?!是|有|会|很|不)"

CHINESE = rf"""
    必须(?!说|承认|的[！!。]?$) | 务必 | 严禁 | 禁止 | 切勿 | 请勿 | 切记 | 不(?<!要不)要(?!紧) | 不(?<!能不)能(?!不) | 不得(?!不|了|已)
    | 不许 | 不准
    | 不允许
  | 不可以 | 只能 | 只许 | 只可以 | 只准 | 只允许 | 仅限 | 一律 | 绝不 | 绝对不 | 决不 | 永远不 | 始终(?!没) | 优先
  | 最多\s*[\d一两二三四五六七八九十半] | 千万 | 不应该? | 只有.{{1,20}}才 | 一定不 | 都要 | 仅(?=[用在对限可能])
  | [至最]少\s*[\d一两二三四五六七八九十半] | 不超过 | 不得超过
  | 别(?<![特区分个识鉴级类性判离告差派辨]别)(?![的人提墅名处样针致扭急慌怕闹逗说管看担客开介难紧在生弄是]) | 一定要
  | 以后{FROM_NOW} | 今后{FROM_NOW} | 从现在起{FROM_NOW} | 每次{FROM_NOW} | 统一(?:用|使用|写|采用|改成|按)
  | ，\s*{ONLY_HERE} | ；\s*{ONLY_HERE} | ,\s*{ONLY_HERE} | 请{ONLY_HERE} | 不可(?!能|思) | 勿(?=\w) | 都要先
  | ，\s*{IN_TONGUE} | ；\s*{IN_TONGUE} | ,\s*{IN_TONGUE}
"""

SURELY = ".{0,60}?(?:ください|下さい|こと|お願|ない|[てで][ね。！]|必要|べき)"
NOT_SO = "は(?:いけ|なら|だめ|ダメ|なりま)"
NO_MORE = "(?:を|に|で|と)?(?:.{0,16}(?:使|し|変|実行|対象|お願|ください)|です|。|と)"
SEE_TO_IT = "に(?:し|お願|ご|気)"

JAPANESE = rf"""
    ないで(?:ください|下さい|ほしい|欲しい|もらい|いただ|くださ|[ねよな]?(?:。|！|$)) | 禁止 | 厳禁 | 必須
    | 必ず(?!しも|や){SURELY} | 絶対に?{SURELY} | 許可なく | 限定 | 控え | 避けて
    | 以外.{{0,12}}(?:ない|禁止|ません) | て{NOT_SO} | で{NOT_SO}
  | なければ(?:なら|なりま|いけ) | しか(?![たし]).{{1,20}}ない
  | だけ{NO_MORE} | のみ{NO_MORE} | べからず | は不可
  | 優先 | これからは?(?=.{{2,40}}て(?:ください|下さい)) | 今後は?(?=.{{2,40}}て(?:ください|下さい))
  | ず{SEE_TO_IT} | ないよう{SEE_TO_IT} | 以内(?:に|で|と) | までに.{{0,12}}(?:こと|必要)
  | ないこと。?$ | こと(?<!いうこと)(?<=[うくすつぬふむぐぶる]こと)。?$ | 厳守
  | は(?:変え|使い|触り|消し|変更し|公開し|上げ)ません | 常に | 触らな | 勝手に
"""

CJK_RULE = re.compile(f"{CHINESE}|{JAPANESE}", re.VERBOSE)
"""Every form begins with a sign of its own: only where one of these stands is more looked at."""
CJK_RULE_AT_START = re.compile(
    rf"""(?:[^。がは]|(?<=[でに])は){{0,40}}?必ず[^。がは]{{0,30}}(?<!ミス)(?<!失敗)(?<!エラー)(?<!文句)を[^。がは]{{0,20}}[うくすつぬぶむぐる][。！]?$
  | {ONLY_HERE} | {IN_TONGUE}
  | (?:那就?|请|还是)?(?:改用|换用)\s*[A-Za-z0-9_.-]+(?:\s[A-Za-z0-9_.-]+)?\s*吧?[。！]?$
  | (?:やはり|やっぱり).{{1,40}}(?:に(?:変更)?して|で(?:書い|答え)て)ください""",
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
    ("may can free allowed",
        r"\b (?:you|we) (?:\s+(?:may|can) | (?:\s+are|['’]re)\s+(?:free|allowed)) \b (?!\s+(?:only|never|not)\b)"),
    ("again now", r"\b (?:may|can) \s+ be \s+ \w+ \s+ (?:again|now) \b"),
    ("allowed permitted open free unlocked", r"\b (?:is|are) \s+ (?:now\s+)? (?:allowed|permitted|open|free|unlocked)"
        r"(?:,|;|[.!]?$|\s+(?:now|again|after\s+all|from|to\s+you|for\s+you)\b)"),
    ("fine ok okay", r"\b (?:is|are) \s+ (?:fine|ok|okay) \s+ (?:now|again|after\s+all|from) \b"),
    ("needed necessary required", r"\b is \s+ (?:no\s+longer|not) \s+ (?:needed|necessary|required) \b"),
    ("have need", r"\b (?:don['’]t|do\s+not|no) \s+ (?:have|need) \s+ to \b"),
    ("again", RESUMED),
)
"""The English forms of a permission or withdrawal, with words as above."""

CJK_RELEASE = r"""
    (?:限制|规定|禁令|要求|规则|冻结|约束).{0,8}(?:取消|解除|作废|不用|放开) | (?:取消|解除|放开).{0,12}(?:限制|规定|禁令|要求|规则|冻结)
    | 可以[^，。；,;]{0,24}了 | 不用再 | 不必再 | 不再(?:需要|限制|要求)
  | 解除 | 撤回 | 取り消し | (?:て|で)も?(?:いい|よい|良い|よく(?:な|て)|良く(?:な|て)|構い|かまい|大丈夫|結構|OK) | もう(?:必要|不要)
  | なくて(?:も|いい|よい|構|結構|大丈夫) | 解禁
"""

WORDS = re.compile(r"[^\W\d_]+")
BETWEEN = str.maketrans({sign: " " for sign in map(chr, range(128)) if not sign.isalpha()})
"""What stands between words of a text in ASCII: cut by this it falls apart several times as quickly."""

CJK_TAKEN_BACK = re.compile(CJK_RELEASE, re.VERBOSE)

PART_END = re.compile(r"[,;:]\s+|[，；：、]\s*|\s[–—-]\s|\b(?:and|but)\b")


@lru_cache(maxsize=256)
def in_small(sentence: str) -> tuple[str, frozenset[str]]:
    """A sentence in small letters, as the forms are, and its words."""
    small = sentence.lower()
    return small, frozenset(small.translate(BETWEEN).split() if small.isascii() else WORDS.findall(small))


class Form(NamedTuple):
    """A form of words, and how it is looked for: one that only begins a sentence is not tried anywhere else."""

    whole: re.Pattern[str]
    found: Callable[[str], re.Match[str] | None]


STRUCTURE = re.compile(r"\\.|\[(?:\\.|[^\]])*\]|[()|]")


def _only_begins(form: str) -> bool:
    """Whether a form can stand at the start of a sentence alone."""
    depth = 0
    for sign in STRUCTURE.findall(form):
        depth += (sign == "(") - (sign == ")")
        if sign == "|" and not depth:
            return False
    return form.startswith("^")


class Forms:
    """The forms of a kind of sentence, of which only those are tried whose words a sentence has."""

    def __init__(self, forms: tuple[tuple[str, str], ...]) -> None:
        self._by_word: defaultdict[str, list[Form]] = defaultdict(list)
        for words, form in forms:
            whole = compiled(form)
            one = Form(whole, whole.match if _only_begins(form) else whole.search)
            for word in words.split():
                self._by_word[word].append(one)
        self._words = frozenset(self._by_word)
        self._with_words = lru_cache(maxsize=1024)(self._having)

    def has(self, sentence: str) -> bool:
        """Whether a sentence has one of the forms."""
        small, words = in_small(sentence)
        known = self._words & words
        return bool(known) and any(form.found(small) for form in self._with_words(known))

    def without(self, sentence: str) -> str:
        """A sentence in small letters without what has one of the forms."""
        small, words = in_small(sentence)
        for form in self._with_words(self._words & words):
            small = form.whole.sub("_", small)
        return small

    def _having(self, known: frozenset[str]) -> tuple[Form, ...]:
        return tuple(dict.fromkeys(form for word in sorted(known) for form in self._by_word[word]))


ENGLISH_RULES = Forms(ENGLISH + EUROPEAN)
ENGLISH_RELEASES = Forms(ENGLISH_RELEASE)
IDLE = Forms(IDLE_ENGLISH)
IS_RESUMED = re.compile(RESUMED, re.IGNORECASE | re.VERBOSE)
# fmt: on


def binds_in_cjk(sentence: str) -> bool:
    """Whether a sentence has a form of a rule in Chinese or Japanese."""
    return CJK_RULE_AT_START.match(sentence) is not None or CJK_RULE.search(sentence) is not None


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
