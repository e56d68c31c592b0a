"""The wording of topics: words that say nothing of what a clause is of, words that mean the same, words of change and of addition."""

from __future__ import annotations

import re

from host.messages.facts.any_case import AnyCase

# fmt: off
IDLE_WORDS = (
    # articles, pronouns, prepositions, conjunctions, auxiliaries
    "a an the this that these those there here it its itself he him his she her hers they them their theirs we us our ours you your yours "
    "i me my mine one ones someone somebody everyone everybody anyone who whom whose which what when where why how "
    "and or but nor so if as than then though although while whereas because since cos unless until till about above across after "
    "against along around at before behind below beside between beyond by down during except for from in inside into like near of off on "
    "onto out outside over past per through throughout to toward towards under up upon via with within without "
    "is are was were be been being am isn aren wasn weren has have had having do does did doing done don doesn didn can could will would "
    "shall should may might must cannot won wouldn couldn shouldn let lets let's ve re ll s t d m "
    "it's that's its thats i'd i'll i'm i've we'd we'll we're we've you'd you'll he's she's they're don't doesn't didn't isn't aren't "
    "wasn't won't wouldn't can't couldn't shouldn't dont doesnt didnt isnt cant wont there's here's what's "
    # verbs that set, send, hold or point
    "make makes made making set sets setting put puts use uses used using take takes took taking taken give gives gave given get gets got "
    "gotten go goes went gone going come comes came keep keeps kept keeping stay stays stayed stands stand remain remains leave leaves "
    "want wants wanted need needs needed like likes prefer prefers think thinks thought guess say says said tell tells told mean means "
    "meant know knows see look looks seem seems call calls called say turn turns turned become becomes became runs ran "
    "belong belongs live lives lies sits send sends sent sending writes wrote try tries tried pick picked choose chose chosen "
    "starts started happen happens agree agreed decide decided settle settled fix fixed allow allows permit accept order quote charge "
    "serve reserve flash plan planned continue continues resume resumes "
    "restart plain expect expected "
    "assume assumed work works listen listens point points bind binds book booked ask asked confirm confirmed "
    # words of change and degree
    "new newer newest old older oldest now instead rather actually sorry wait scratch correction correct corrected wrong mistake typo "
    "mistyped misread misspoke change changes changed changing switch switches switched move moves moved moving bump bumps bumped raise "
    "raised raises lower lowered lowers increase increased increases reduce reduced reduces cut cuts extend extended shorten shortened "
    "double doubled halve halved push pushed pull pulled shift shifted bring brought postpone postponed delay delayed slip slipped "
    "update updates updated upgrade upgraded downgrade downgraded replace replaces replaced replacing swap swapped swaps rename renamed "
    "revise revised revert reverted forget ignore drop dropped stop again already still yet longer shorter bigger smaller larger higher "
    "less more fewer faster slower later earlier sooner better best worse good fine great nice perfect ok okay yes yeah yep nope nah no "
    "not never always only also too either both enough well just really very quite pretty even maybe perhaps probably likely about around "
    "roughly exactly simply please pls thanks thx cool hm hmm oh ah eh uh um hey hi duh ouch oops lol btw tho anyway otherwise else "
    "ever once twice much many most some any all each every few several such same other another different own back end least younger "
    "plenty sufficient ideal maximum "
    "finally second early late soon big small high low long short slow fast quick everything nothing something thing things stuff "
    "sudden suddenly slash slashed boost boosted half way ways bit lot kind sort time times due turned out scrap retired dead gone off "
    "true false null none const string return def import int str value type default "
    "false really today tomorrow yesterday tonight monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thurs "
    "fri sat sun january february march april june july august september october november december jan feb mar apr jun jul aug sep sept "
    "oct nov dec am pm utc o'clock "
    "second seconds minute minutes hour hours day days week weeks month months year years "
    # German, French, Spanish, Portuguese
    "der die das den dem des sich ein eine einen einem einer und oder aber ist sind war wird werden wir ich du er sie es im am um auf "
    "an zu zum zur "
    "mit von vom bis nach bei für als doch lieber statt stattdessen nun jetzt neu bitte mal uhr nicht kein keine "
    "le la les un une du et ou mais est sont sera au aux à en pour par avec sur dans ce cette ces il elle on nous vous plutôt finalement "
    "désormais maintenant pas non oui "
    "el los las una unos unas y o pero es son está están del al con para por lo mejor ahora vez más bien que se no sí "
    "os as um uma e ou mas é são do dos das ao com agora melhor não sim"
)
IDLE = frozenset(IDLE_WORDS.split())
"""Words that say nothing of what a clause is of, as they are written."""

JOINS_QUALIFIER = frozenset({"of", "for", "in", "on", "at"})
"""Words after which something tells which one of a kind is meant ("the port of staging", "the limit for guests")."""

ARTICLE_WORDS = "the a an our my your its this that his her their"
ARTICLES = frozenset(ARTICLE_WORDS.split())
OBJECT_WORDS = "it them these those all every both"
OBJECTS = ARTICLES | frozenset(OBJECT_WORDS.split())
"""What stands right after a verb that begins an order ("trim the intro", "crank it up")."""

REPORTS_WORDS = (
    "wants wanted says said asks asked asking prefers preferred insists insisted told tells needs thinks thought called calls wrote "
    "confirmed confirms agreed agrees decided wished wishes voted picked chose approved granted"
)
REPORTS = frozenset(REPORTS_WORDS.split())
"""What stands right after somebody who only says what is wanted."""

CHANGERS_WORDS = (
    "pushed moved raised cut lowered shortened extended changed switched bumped swapped reduced increased postponed delayed doubled halved "
    "pulled set gave sent put made brought upped trimmed dropped"
)
CHANGERS = frozenset(CHANGERS_WORDS.split())
"""What stands between somebody who changed a thing and that thing ("ops pushed the window back")."""

KINDS_OF_VALUE_WORDS = (
    "port version ip addres address host branch path folder room seat gate platform number email date day hour pric price rat rate siz "
    "size"
)
KINDS_OF_VALUE = frozenset(KINDS_OF_VALUE_WORDS.split())
"""Stems that name the kind of a value, not which thing it is of ("runs on port 8080")."""

SAME = {
    stem: name for name, stems in (
        ("production", "prod productiv product"), ("staging", "stag stage"), ("database", "db databas"), ("folder", "directory dir"),
        ("configuration", "config cfg conf"), ("environment", "env"), ("repository", "repo"), ("version", "vers ver"),
        ("development", "dev"), ("timeout", "time-out"), ("machin", "box"), ("people", "person guest attende participant head"),
        ("percentag", "percent"), ("picture", "photo imag pic"), ("learning", "lr"), ("apartment", "flat"),
    ) for stem in stems.split()
}
"""Stems that mean the same, and the one that stands for them."""

CJK_SAME = (
    ("租金", "房租"), ("版", "version"), ("人数", "people"), ("サンプリング", "sample"),
)
CJK_IDLE = re.compile(
    r"[的了是为在从与吧啊呢嘛哦呀我你您他她它们咱这那哪就都还请让把将及吗么没不才也很太]|(?:改|换|挪|移|调|提|升|降|涨|加|减|推迟|提前|延|换)[成为到至了]|推迟|提前|延期到?|顺延到?|也就是说?|[早晚](?:半|一|两|几)个?(?:小时|钟头|天)|"
    r"现在|以后|之后|之前|以前|以内|以上|以下|以降|最少|最多|至少|要求|改成|改为|改到|换成|换到|推迟|提前|其实|应该|可以|就是|还是|一下|一个|时候|今天|明天|昨天|刚才|刚刚|"
    r"変更|間違い?|開始|(?:分|時間)?(?:遅ら|早め)|日程|日時|日取り|今後|以後|今日|明日|昨日|新規|旧|新")
"""Han characters and words that say nothing of what a clause is of."""

CHANGE = AnyCase(
    r"""^ (?: ok(?:ay)? | yeah | yes | fine | sure | well )? [,\s]* but \b | ^ (?: no | h+m+ | e+h+ | a+h+ | o+h+ | oops | duh
    | argh | ugh | あ ) [\s,.、] | \b (?: instead (?!\s+of) | rather (?!\s+than) | actually | sorry | correction | scratch | oops
    | whoops | no \s+ wait | wait
      | hold \s+ on | on \s+ second \s+ thoughts? | after \s+ all | turn(?:s|ed) \s+ out | my \s+ (?:bad|mistake) | i \s+ was \s+ wrong
      | mistyped | misread | misspoke | mixed \s+ up | typo | meant | wrong | incorrect | outdated | mistake
      | make \s+ (?:that|it|them|this) | mak(?:e|ing) \s+ the | set \s+ (?:that|it) | give \s+ it | better | i['’]d \s+ (?:like|prefer|say)
      | will \s+ do | is \s+ (?:plenty|enough) | no \s+ longer | not \s+ any \s* more | any \s* more | back \s+ to | down \s+ to | up \s+ to
      | bump(?:s|ed|ing)? | chang(?:e|es|ed|ing) | switch(?:es|ed|ing)? | mov(?:e|es|ed|ing) | rais(?:e|es|ed|ing) | lower(?:s|ed|ing)?
      | increas(?:e|es|ed|ing) | reduc(?:e|es|ed|ing) | cut | extend(?:s|ed)? | postpon(?:e|ed) | push(?:ed)? | shift(?:ed)?
      | delay(?:ed)? | slip(?:s|ped)? | brought | updat(?:e|es|ed) | upgrad(?:e|es|ed|ing) | downgrad(?:e|ed)
      | replac(?:e|es|ed|ing) (?!\s+by\b.{0,4}$)
      | swap(?:s|ped)? | renam(?:e|ed) | re(?:book|schedul|assign|count|measur|weigh|pric|rout|number|plann|negotiat|calculat|siz|issu|bas
        |generat|locat|new(?=ed)|new(?=ing))\w* | rotat(?:e|es|ed)
      | trim(?:med)? | voted | picked | chose | approved | granted | agreed \s+ on | settled \s+ on | in \s+ the \s+ end
      | ended \s+ up | insists? | scal(?:e|ed) | crank(?:ed)?
      | revis(?:e|ed) | revert(?:ed)? | shorten(?:ed)? | lengthen(?:ed)? | doubl(?:e|ed) | halv(?:e|ed)
      | promot(?:e|ed) | demot(?:e|ed) | became | becomes | has \s+ been \s+ (?:set|fixed) | drop(?:s|ped)? | went \s+ (?:up|down)
      | took \s+ over | handed | now
      | new | from \s+ (?:now|today|tonight|tomorrow|next|(?:mon|tues|wednes|thurs|fri|satur|sun)day)
      | as \s+ of | starting | effective | these \s+ days | this \s+ time
      | (?:is|are|was|were|be|['’]s) \s+ (?:way \s+|far \s+|a \s+ bit \s+ |still \s+)? (?:too|overkill|dead|gone|retired|broken|out)
      | too \s+ \w+ | (?:it|that|they|she|he|which) \s+ (?:died|broke|failed|crashed|burnt) | (?:is|are) \s+ (?:full|down|off)
      | retired | died | crashes | (?:not|isn['’]t|aren['’]t|wasn['’]t) \s+ enough | slash(?:ed)? | boost(?:ed)? | chop(?:ped)?
      | oh \s+ no | nah | nope | doch | statt(?:dessen)? | lieber | nun | jetzt | neu(?:er|es|e)? | plutôt | finalement | désormais
      | en \s+ fait | mejor
      | versch(?:ieb|ob)\w* | verleg\w* | erhöh\w* | gesenkt | senk(?:en|t) | geändert | änder\w* | sondern | subi[óo] | sub(?:ir|e)
      | baj(?:ó|ar|a) | cambi\w+
      | aument\w* | augment\w* | baiss\w* | repouss\w* | avanc\w* | déplac\w* | adia\w+ | pass(?:e|a) \s+ (?:à|a)
      | ahora | en \s+ vez | más \s+ bien | agora | em \s+ vez
      | tighten(?:ed)? | loosen(?:ed)? | relax(?:ed)? | grew | shrank | expired | supersed(?:es|ed) | amended | all \s+ of \s+ a \s+ sudden
      | suddenly | longer | shorter | smaller | bigger | larger | higher | less | fewer | faster | slower | later | earlier | sooner
    ) \b
    | 改成 | 改为 | 改到 | 改用 | 改了 | 改回 | 换成 | 换到 | 换了 | 推迟 | 提前 | 调到 | 调整 | 现在 | 更新 | 更正 | 不对 | 其实 | 挪到
    | 移到 | 提到
    | [早晚](?:半|一|两|几|\d+)\s?个?(?:小时|钟头|天|分钟) | 延长 | 延期 | 顺延 | 升级 | 升到 | 降到 | 降为 | 说错 | 记错 | 写错
    | 打错 | 搞错 | 弄错 | 变成 | 变为 | 变更 | 恢复 | 回到 | 提高
    | 降低 | 增加 | 减少 | 上调 | 下调 | 缩短 | 改期
    | 涨 | 加到 | 减到 | 还是.{0,14}吧 | 太[^\s，。]
    | 不是.{1,24}是 | 多打 | 少打 | 重新定 | 定为 | 错了 | 改一下
    | [多少][留住放加给买订要算等开]\S{0,2}[一两几半\d] | 缩小 | 扩大 | 放宽 | 收紧
    | 増え | 減り | 減っ | ずれ | 遅ら | 引き上げ | 引き下げ
    | 変更 | 変わり | 変わっ | やはり | やっぱり | 更新 | 延期 | ではなく | じゃなく | 改め | になりました | となりました | にします
    | に決ま | でお願い
    | 切替 | 切り替え | 訂正 | 間違 | 変え | 替え | 前倒し | 上げ | 下げ | 増や | 減ら | すみません | 今は | 延ば | 伸ば | 移し | 移行
    | に戻
    | でいき | 落とし | 短く | 長く | もっと | 新しい | 逆でした | 違いました | にしましょう | にして
    """, re.VERBOSE)
"""What says that something is now other than it was."""

PERHAPS = AnyCase(
    r"""\b (?: if | unless | suppose | imagine | what \s+ if | whether | might | guess | estimate | reckon | could (?!\s+you)
      | consider(?:ing)? | propos(?:e|es|ed) | suggest(?:s|ed)? | used \s+ to | last \s+ (?:year|month|week|time|quarter|sprint|night)
      | back \s+ (?:then|when) | ago | originally | previously | formerly | historically | in \s+ the \s+ past | compared | versus | vs
      | unlike | in \s+ the \s+ (?:paper|docs|example|tutorial) | for \s+ (?:example|instance|comparison|reference) | e\.g\.
      | (?:do|does)n['’]?t \s+ matter | (?:i|we|he|she|they) \s+ (?:re)?tried ) \b
    | 如果 | 要是 | 假如 | 也许 | 可能 | 建议 | 以前 | 去年 | 上个?月 | 上次 | 当时 | 原来 | 相比 | もし | かもしれ | 以前 | 昨年 | 先月
    | 前回 | 比べ
    """, re.VERBOSE)
"""What makes of a value a guess, a memory or a comparison."""

MOVED = re.compile(r"(?i)\b(?:moved|migrated|switched)\s+(?:\w+\s+){0,2}to\s+(?:https?://)?[`\"']?$|(?:迁移?|搬|换)到\s?$")
"""What leads to the place where things are now."""

ADDS = AnyCase(
    r"""(?<=\w\s) also \b | \b (?: too (?= \s* (?:[.,;!)]|$)) | as \s+ well | additionally | in \s+ addition | besides | plus
    | another | second | third | extra
      | other | others | else | separate(?:ly)? | own | respectively | each | in \s+ parallel | alongside | on \s+ top | next \s+ to
      | spare | backup \s+ (?:is|host|server|number)
      | an \s+ additional | additional | further | only \s+ for | just \s+ for | except \s+ (?:for|on) | unchanged | keeps | stays?
      | still | remains? | as \s+ (?:before|ever|is|it \s+ is) ) \b
    | (?<=\w)另外 | 另一 | 还有 | 也(?![要改换提调得想]) | 以及 | 同时 | 第二 | 都是 | 额外 | 此外 | 单独 | 各自 | 照旧 | 不变 | 不动
    | 没动 | 依旧 | 仍
    | また、 | もう一つ | さらに | 加えて | も同じ | 別の | 別に | 二つ目 | それぞれ | そのまま | 変わりません | も[^っう]
    """, re.VERBOSE)
"""What says that a value comes beside another, is of something else, or stays as it was."""

CORRECTS = re.compile(
    r"""(?ix) \b (?: sorry | no \s+ wait | wait | scratch \s+ that | correction | oops | e+h+ | argh | ugh | make \s+ that
    | rather (?!\s+than) | i \s+ mean
      | no ,? (?=\s*$) | actually | my \s+ bad | nah | nope | typo | mistyped ) \b
    | (?:^|[.!,;]\s*) no \s* [,.]
    | 不对 | 说错 | 写错 | 打错 | 不是 | 算了 | 等等 | やっぱり | やはり | すみません | 違い | 訂正 | 間違
    """)
"""What takes back in the same breath what was said just before."""

PUTS = re.compile(
    r"(?i)\b(?:chang|switch|mov|rais|lower|increas|reduc|cut|extend|postpon|push|shift|bump|upgrad|downgrad|set|go(?:es)?|went|drop"
    r"|crank|turn|bring|get|take|dial)\w*\b[^.,;]{0,30}?\bto [`\"'“]?$"
    r"|(?:改|换|挪|移|调|提|升|降|涨|加|减|推迟|提前|延长?|延期|顺延)[成为到至]\s?[`\"'“「]?$")
"""What leads right to a new value."""

SMALL_NUMERALS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
LARGE_NUMERALS = "twenty thirty forty fifty sixty seventy eighty ninety hundred"
NUMERALS = {word: float(number) for number, word in enumerate(SMALL_NUMERALS.split())} | {
    word: 10.0 * number for number, word in enumerate(LARGE_NUMERALS.split(), 2)
}
SPOKEN = re.compile(rf"(?i)\b(?:{'|'.join(NUMERALS)})\b")
"""Numbers as words."""

CLOCK_NOW = re.compile(r"(?i)(?:\bit(?:['’]s|\s+is)(?:\s+(?:now|already))?|现在是?|已经|今は|いま)\s?$")
"""What leads to the time of day."""

LESS = re.compile(
    r"(?i)\b(?:smaller|shorter|lower|fewer|less|reduce[sd]?|decrease[sd]?|cut|down to|halve|shorten|too (?:long|high|much|many|big"
    r"|large|hot)|overkill|greedy)\b"
    r"|短く|下げ|減ら|降到|降为|减到|缩短")
MORE = re.compile(
    r"(?i)\b(?:bigger|larger|longer|higher|raise[sd]?|increase[sd]?|up to|bump(?:ed)?|double|extend(?:ed)?|too (?:short|low|little"
    r"|few|small|cold|tight)|not enough)\b"
    r"|長く|上げ|増や|涨|提到|加到|延长|提高")
"""Words that ask for a lower, and for a higher value than there was."""

POINTS = AnyCase(r"\b(?:it|that|this|them|those|these|ones?|same)\b|それ|これ|那个|这个|它")
"""A pronoun in the place of a subject."""

ASKED = re.compile(r"[?？]\W*$|[吗呢]\W*$|(?:です|ます|でしょう|ません)か\W*$")
"""A question sets nothing."""
# fmt: on
