"""The wording of rules in three languages: what binds, what only sounds like it, and what takes a rule back."""

from __future__ import annotations

import re

# fmt: off
CLAUSE = r"(?:^|[,;:–—(]\s*|\b(?:and|but|so|or|then|please|also|just|again|still|to)\s+)"
"""Where an order can begin: at the start of a clause, or after a word that leads to one."""

ENGLISH = rf"""
    \b must (?:\s+not | n't)? \b (?! \s+(?:say|admit|confess|have\s+(?:been|gone|had|\w+ed)|really)\b )
  | (?<!\b[It]\ ) (?<!\b(?:he|it)\ ) (?<!\bshe\ ) (?<!\b(?:they|that)\ ) never \b (?! \s+ (?:\w+ed|came|went|ran|got|ends?|gets)\b )
  | {CLAUSE} always \b
  | \b (?:should|shall|will|are|is|be|we|you|please|can) \s+ always \b (?! \s+ been)
  | [, ] \s* always [.!]? $
  | {CLAUSE} only \b (?! \s+ (?:that|then|now|because|after\s+that)\b )
  | \b only \s* (?:[.,;:!)]|$)
  | ^ \w+ \s+ only \b
  | \b (?:I|we|you|may|can|should|shall|will|use|using|with|from|in|on|into|at|goes|go|touch|change|run|is|are) \s+ only \b

  | (?<!\b[Iis]\ ) (?<!s\ ) (?<!\bwe\ ) (?<!\b(?:they|that)\ ) (?<!\bwho\ ) (?<!\byou\ ) (?<!\bwhich\ ) (?:do\s+not|don['’]t) \b
      (?! \s+ (?:worry|mind|know|think|remember|care|bother|hesitate|you|get\s+me|ask\s+me)\b )
  | \b I \s+ (?:do\s+not|don['’]t) \s+ want \b
  | \b (?:should|shall|may) \s+ not \b | \b shouldn['’]t \b
  | \b (?:cannot|can['’]t|can\s+not|may\s+not) \s+ (?:be|exceed|change|go|leave|contain|touch) \b
  | \b (?:has|have|needs?) \s+ to \s+ (?:be|stay|remain|come|go|work|run|fit|keep|pass) \b
  | \b prefer(?:ably)? \b | {CLAUSE} avoid \b | ^ (?:please\s+)? \w+ \s+ (?:every|each) \b | \b (?:make\s+sure|ensure|be\s+sure\s+to)\b
  | \b at \s+ (?:most|least) \s+ (?:\d|one|two|three|four|five|ten|once|twice|half|a\b) | \b at \s+ all \s+ times \b
  | \b (?:no|not) \s+ (?:more|less|later|earlier|longer|higher|lower|fewer|bigger|larger) \s+ than \b
  | \b (?:under|in) \s+ no \s+ (?:circumstances|case) \b | \b off[- ]limits \b | \b hands \s+ off \b
  | \b (?:forbidden|prohibited|mandatory|not\s+allowed|banned|taboo) \b
  | \b (?:limit|ceiling|cap|maximum|minimum) \b [^.,;]{{0,20}} \b (?:is|are|stays?|remains?) \b
  | ^ (?:keep|leave) \b [^.]{{0,60}} \b (?:under|below|above|alone|as\s+(?:it|they)\s+(?:is|are)|unchanged|untouched|at|out) \b
  | ^ (?:stay|keep) \s+ (?:out|away|off|below|under|within|clear) \b | ^ stick \s+ to \b
  | {CLAUSE} no \s+ (?! (?:problem|idea|need|worr|thank|luck|doubt|wonder|one\b|reason|error|change|rush|hurry|matter|question
      |news|more\s+quest|way\b|longer|difference|surprise|big|it\b|that\b|I\b|this\b|hits?\b|results?\b|result) ) [a-z]
  | \b (?:nothing|nobody|no\s+one|none) \s+ (?:may|must|should|shall|can|gets?|goes|leaves?|on|in|that|without) \b
  | \b may \s+ no \s+ longer \b
  | \b (?:nothing|nobody|no\s+one|anything|anyone) \s+ else \b | \b without \s+ (?:asking|my|telling|approval|permission) \b
  | \b from \s+ now \s+ on \b | \b (?:until|unless|before) \s+ I(?:['’]ve|\s+have)? \s+ (?:say|said|tell|have|ask|confirm|approve) \b
  | \b (?:ask|tell|check\s+with) \s+ me \s+ (?:first|before) \b
  | \b (?:needs?|wait\s+for|not?\s+without) \s+ my \s+
  | \b I \s+ (?:want|need|have) \s+ to \s+ (?:see|approve|review|read|confirm|sign) \b .* \b (?:before|first) \b
  | \b only \s+ (?:if|when|after|with|on|in|for|by|from|through|via|between|during|the|those|these|files|what) \b | \b (?:except|unless) \b
"""

CHINESE = r"""
    必须(?!说|承认) | 务必 | 严禁 | 禁止 | 切勿 | 请勿 | 切记 | (?<!要)不要(?!紧) | (?<!能)不能(?!不) | 不得(?!不|了|已) | 不许 | 不准
    | 不允许
  | 不可以 | 只能 | 只许 | 只可以 | 只准 | 只允许 | 仅限 | 一律 | 绝不 | 绝对不 | 决不 | 永远不 | 始终(?!没) | 优先
  | 最多\s*[\d一两二三四五六七八九十半] | 千万 | 不应该? | 只有.{1,20}才 | 一定不 | 都要 | 仅(?=[用在对限可能])
  | 至少\s*[\d一两二三四五六七八九十半] | 不超过 | 不得超过
  | 别(?:再?(?:动|碰|改|用|删|推|提交|发布|重启|覆盖|写|上传|合并)) | 一定要
  | (?:^|[，；,]\s*|请)只(?!有|是|剩|花|差|好|不过|见|需|得|怕|知|记|想|说|过|用了) | 不可(?!能|思) | 勿(?=\w) | 都要先
"""

JAPANESE = r"""
    ないで(?:ください|下さい|ほしい|欲しい|もらい|いただ|くださ|。|！|$) | 禁止 | 厳禁 | 必須
    | (?:必ず(?!しも|や)|絶対に?).{0,60}?(?:ください|下さい|こと|お願|ない|[てで][ね。！]|必要|べき) | 許可なく | 限定 | 控え | 避けて
    | 以外.{0,12}(?:ない|禁止|ません) | (?:て|で)は(?:いけ|なら|だめ|ダメ|なりま)
  | なければ(?:なら|なりま|いけ) | しか.{1,20}ない
  | (?:だけ|のみ)(?:を|に|で|と)?(?:.{0,16}(?:使|し|変|実行|対象|お願|ください)|です|。|と) | べからず | は不可
  | 優先 | (?:ず|ないよう)に(?:し|お願|ご|気) | 以内(?:に|で|と) | までに.{0,12}(?:こと|必要) | (?:する|ない|いる)こと。?$ | 厳守
  | は(?:変え|使い|触り|消し|変更し|公開し|上げ)ません | 常に | 触らな | 勝手に
"""

HINT = re.compile(
    r"\b(?:must|never|always|only|not?|nothing|nobody|none|don|prefer|avoid|sure|ensure|at|forbidden|prohibited|mandatory|banned|taboo|"
        r"limit|ceiling|cap|"
    r"max|min|keep|leave|stay|stick|until|unless|before|except|without|from|off|hands|ask|tell|check|needs?|ha(?:s|ve)|every|each|may|"
        r"should|shall|can|"
    r"shouldn|any|wait|more|less|else|I)",
    re.IGNORECASE,
)
"""Words of which an English rule has one: a quick look that spares most sentences the long one."""

ENGLISH_RULE = re.compile(ENGLISH, re.IGNORECASE | re.VERBOSE)

CJK_RULE = re.compile(f"{CHINESE}|{JAPANESE}", re.VERBOSE)

IDLE = re.compile(
    r"""
    \b (?:I|he|she|they|nobody|it|who|mother|sister|brother|boss|colleague|friend) (?:['’]ve|['’]d|\s+(?:have|has|had|would))? \s+
      (?:never|always|only) \s+ (?:saw|seen|had|was|were|did|got|been|heard|knew|thought|asked|said|says?|wanted|meant|noticed|\w+ed) \b

  | \b never \s+ (?:saw|seen|mind|had|was|were|been|heard|knew|thought|asked|wanted|noticed|worked|\w+(?:ed|en)\b|know\b|ends?\b|gets?\b)
  | \b (?:must|always|never|only) \s+ (?:say|admit|confess) s? \b | ^ must \s+ (?:I|we|be) \b
  | \b you \s+ must \s+ (?:be|have|think|feel|know) \b
  | \b there \s+ must \s+ (?:be|have) \s+ (?:a\s+|some\s*)? (?:reason|mistake|bug|way|thing|one|error)?
  | \b must \s+ be \s+ (?:because|the\s+\w+\s*[.!]|joking|kidding|tired|nice|hard|fun|wrong|some)
  | \b (?:don['’]t|do\s+not) \s+ (?:have|need) \s+ to \b
  | \b the \s+ only \s+ (?:one|thing|reason|problem|way) \b | \b (?:if|not) \s+ only \b | \b (?:that|it|this) \s+ only \s+ \w+s \b
  | \b only \s+ (?:just|a\s+few|joking|kidding|human) \b | \b once \s+ had \s+ to \b | \b as \s+ always \b | \b like \s+ always \b
  | (?<!\bI\ ) \b (?:says?|said|claims?|claimed|jokes?|joked|thinks?|insists?|believes?) \b .*
  | 必须(?:说|承认) | 我(?:从来|一直|从|总是|总得|老是|经常|每次)(?:都)?(?:必须|没)? | (?:都|有人|他|她|人家)说.*
  | 不要(?:钱|紧张|客气|担心|误会) | 从来没 | 不得不 | 要不要 | 能不能 | 是不是
  | (?:必ず|絶対に?).{0,24}(?:と[はも]?思|でしょう|だろう|誰か|はず|気がし) | いつも(?:必ず)? | んですけどね | ないで.{0,8}(?:たら|しまっ)
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Memories, guesses, sayings: the words of a rule that bind nothing. Cut out before the rest is looked at."""

ENGLISH_RELEASE = r"""
    \b forget \s+ (?:the|that|what|about|my) \b
    | \b (?:scrap|ignore|drop|lift|withdraw|cancel|revoke) (?:ping|ting|s|ed)? \s+ (?:the|that|my|this|what) \b
  | \b (?:rule|limit|ban|freeze|restriction|constraint|lock|embargo|condition)s?
      \b [^.;]{0,40} \b (?:is|are|was|has\s+been|be) \s+ (?:now\s+)? (?:lifted|gone|over|off|cancell?ed|withdrawn|dropped|no\s+longer) \b
  | \b no \s+ longer \s+ (?:appl|need|necessary|hold|valid|bind|counts?|true)
  | \b (?:doesn['’]t|does\s+not|don['’]t) \s+ (?:apply|hold|count) \s+ (?:any|now)
  | \b (?:you|we) \s+ (?:may|can|are\s+(?:free|allowed)) \b (?!\s+(?:only|never|not)\b)
  | \b (?:is|are) \s+ (?:now\s+)?
      (?:allowed|permitted|open|free|unlocked)(?:,|;|[.!]?$|\s+(?:now|again|after\s+all|from|to\s+you|for\s+you)\b)
  | \b (?:is|are) \s+ (?:fine|ok|okay) \s+ (?:now|again|after\s+all|from) \b
  | \b is \s+ (?:no\s+longer|not) \s+ (?:needed|necessary|required) \b
  | \b (?:don['’]t|do\s+not|no) \s+ (?:have|need) \s+ to \b | \b (?:would|will|can) \s+ .{1,20} , \s+ forget
"""

CJK_RELEASE = r"""
    (?:限制|规定|禁令|要求|规则|冻结|约束).{0,8}(?:取消|解除|作废|不用|放开) | (?:取消|解除|放开).{0,12}(?:限制|规定|禁令|要求|规则|冻结)
    | 可以.{0,10}了 | 不用再 | 不必再 | 不再(?:需要|限制|要求)
  | 解除 | 撤回 | 取り消し | (?:て|で)も?(?:いい|よい|良い|構い|かまい|大丈夫|結構|OK) | もう(?:必要|不要)
  | なくて(?:も|いい|よい|構|結構|大丈夫) | 解禁
"""

TAKEN_BACK = re.compile(f"{ENGLISH_RELEASE}|{CJK_RELEASE}", re.IGNORECASE | re.VERBOSE)

TAKEN_BACK_IN_ASCII = re.compile(ENGLISH_RELEASE, re.IGNORECASE | re.VERBOSE)
"""Permissions and withdrawals: they end a rule and are none themselves."""
# fmt: on
