"""The wording of an order in three languages: what binds, forbids, bounds or sets, and what does not say what it is of."""

from __future__ import annotations

import re

from host.messages.facts.change_words import STOP

# fmt: off
FORBIDS = re.compile(r"""(?ix)
    \b (?: never | (?:do|does|must|should|shall|may|can|could|are|is|need) \s+ not | (?:do|does|must|should|ca|are|is)n['’]?t | cannot
      | mustnt | no | none | nothing | nobody | avoid | refrain | stop | forbidden | prohibited | banned | taboo | off[- ]limits
      | hands \s+ off ) \b
    | 不要 | 不能 | 不得 | 不许 | 不准 | 不允许 | 不可 | 不应 | 禁 | 切勿 | 请勿 | 勿 | 别(?!的|人) | 绝不 | 决不 | 绝对不 | 永远不 | 不再
    | 一定不 | ない(?:で|よう|こと|[。！]|$) | ません | ては(?:いけ|なら|だめ|ダメ) | では(?:いけ|なら|だめ|ダメ) | べからず | 控え | 避け
    | 触らな | 勝手に
""")
"""What makes of an order a ban."""

BOUND_BEFORE = re.compile(r"""(?ix)
    \b (?: (?:more|less|fewer|longer|shorter|later|earlier|sooner|higher|lower|larger|smaller|bigger|older|newer|slower|faster) \s+ than
      | before | after | until | above | below | over | under | beyond | exceed(?:s|ing)? | past | at \s+ (?:most|least) ) \s* (?:it \s+)? $
    | (?:超过|早于|晚于|低于|高于|多于|少于|至少|最多|不足) \s* $
""")
BOUND_AFTER = re.compile(r"\s*(?:\S{0,4}?(?:以内|以上|以下|以前|以后|之前|之后|以降|未満|前に|後に|より|を超え|まで))")
"""What stands before and after the figure of a bound."""

SETS = re.compile(r"""(?ix)
    (?: \b (?: be | is | are | to | equals? | stays? | keep | port | version | timeout | limit | branch | host | address | level | size
        | length | width | model | budget | deadline | interval | threshold | python | node | java | go | postgresql | postgres )
      | [=:是为到用] | 端口 | 版本 | 分支 | 主机 | ポート | バージョン | ブランチ | ホスト | [はをが]) \s* [`"“「]? $
""")
"""What stands before a value that is a setting of something, not the thing itself."""

UNIT = re.compile(r"\s?(?:[A-Za-z]+s\b|%|ms\b|[smhKMG]i?B?\b|percent|EUR|USD|[秒分时時日天次回条個个件行字月年万円元])")

CHANGES = re.compile(r"""(?ix)
    \b (?: instead (?!\s+of) | actually | sorry | correction | scratch \s+ that | on \s+ second \s+ thought | changed? | changing
      | switch(?:ed)? | no \s+ longer | any \s* more | stop | back \s+ to | after \s+ all | rather (?!\s+than)
      | replac(?:e|es|ed|ing) | not \s+ any \s+ longer
      | rais(?:e|ed) | lower(?:ed)? | moved? | postponed | i \s+ was \s+ wrong | mistake | my \s+ bad | oops )\b
    | 改成 | 改为 | 改到 | 改用 | 换成 | 换到 | 推迟 | 提前 | 其实 | 更正 | 不对 | 说错 | 记错 | 不再
    | 変更 | やはり | やっぱり | ではなく | 訂正 | 間違 | に変え | 切り替え | すみません
""")
"""Words that end what was ordered before. "Now" and "from now on" only begin something: other orders stay."""

DENIED = re.compile(r"""(?ix)
    (?: \b (?:instead \s+ of|rather \s+ than|no \s+ longer|replac(?:es|ing)) \s+ | , \s* (?:not|never) \s+ )
      (?P<after> [^,;.]+? ) (?: \s+ ones? )? (?: (?= [,;.] | $ | \s+ from \s+ now \b ) | \s+ (?:for|when) \s+ (?P<scope> [^,;.]+ ) )
    | [，,] \s* (?: 不再?用 | 而?不是 | 不要再?用 | 别再?用 ) (?P<behind> [^，。、；,;了]+ )
    | (?P<before>\S+?) \s* ではなく
""")
"""What an order calls old, and for what."""

SWAPS = re.compile(r"""(?ix)
    \b (?:use|always) \s+ [\w.-]+ (?: ,? \s+ (?:instead \s+ of|rather \s+ than) | , \s* (?:not|never) ) \s+ [\w.-]+?
    (?: \s+ from \s+ now \s+ on )? [.!]? $
""")
"""An order to use one thing for another wherever that was used."""

USES = re.compile(r"(?i)\buse\s+(?P<thing>[\w.-]*\w)(?=\s+(?:for|as|to)\b|[.!]?$)")
"""The thing that an order is to use, where it is the whole object."""

JOINS = re.compile(r"""(?ix)
    \b (?: or | nor | and | plus | as \s+ well \s+ as ) \b
    | \s&\s | 或 | 和 | 与 | 及 | 跟 | または | もしくは | [やと](?=\s?[A-Za-z\u30a0-\u30ff\u4e00-\u9fff])
""")
"""What joins the parts of an order that is of several things or acts."""

WAIVES = re.compile(r"""(?ix)
    \b (?: (?:do \s+ not|don['’]t|no) \s+ (?:have|need) \s+ to | need (?:n['’]t|\s+not) ) \b
    | 不用 | 不必 | なくて(?:も|いい|よい|構|結構|大丈夫)
""")
"""What says that something need not be done: it may still be forbidden."""

REASON = re.compile(
    r"(?i)(?:,\s+|\s[–—-]\s|\s+\()(?:because|since|cos|cause|otherwise|or else)\b"
    r"|,\s+(?:(?!and\b|or\b|but\b|unless\b|if\b|except\b)[\w'’]+\s+){1,5}?(?:is|are|was|were|has|had|gave|gives|eats|needs|hates|wants|reads?)\s"
    r"|,\s+(?:(?:he|she|they|it)['’]?s|half)\s")
"""Where the reason of a rule begins."""

BELONGS = re.compile(r"(?i)\s*(?:for|in|on|at|with|by|from)\b")
"""Where a part of an order begins that only says more of it ("export a wav, for the archive")."""

WAITS = re.compile(r"(?i)(?:\b(?:without|unless|until|before|except)\b|除非|未经)(?P<thing>.*)")
"""What a ban waits for: where that is waived, so is the ban."""

BINDING = re.compile(r"""(?ix)
    \b (?: from \s+ now \s+ on | make \s+ sure (?:\s+(?:that|you|to))* | be \s+ sure \s+ to | ensure (?:\s+that)?
      | (?:under|in) \s+ no \s+ (?:circumstances|case) | at \s+ all \s+ times | (?:please\s+)? remember (?:\s+(?:to|that))?
      | refrain \s+ from | no \s+ (?:longer|more) | any \s* (?:more|longer) | on \s+ second \s+ thought | scratch \s+ that | after \s+ all
      | do(?:es)? \s* n(?:o|['’])t | (?:must|should|shall|may|can|could|are|is) \s* (?:not|n['’]t) | can['’]t )\b
    | 必须 | 务必 | 严禁 | 禁止 | 切勿 | 请勿 | 切记 | 不要 | 不能 | 不得 | 不许 | 不准 | 不允许 | 不可以? | 绝不 | 绝对不? | 决不 | 永远不?
    | 始终 | 一律 | 一定不?要? | 千万 | 应该? | 改成 | 改为 | 改到 | 改用 | 换成 | (?:提前|推迟|换)到 | 现在 | 以后 | 其实 | 不再 | 再
    | 都要 | 请 | 别(?!的|人) | 勿 | 可以 | 不用 | 不必 | 了[。！]?$ | 限制 | 规定 | 禁令 | 规则 | 取消 | 解除 | 作废
    | 必ず | 絶対 | 厳禁 | 必須 | お願い | 下さい | 構い | 大丈夫 | 結構 | 解禁 | 撤回 | 不可 | 変更 | 訂正 | これからは? | 今後は?
    | 以後 | 常に | やはり | やっぱり | すみません
""")
OCCASION = re.compile(r"(?i)\bfor\s+(?:that|this|today|tonight)(?:\s+one)?(?:\s+(?:night|day|time|week|release|once|index|file))?\b")
"""For how long something is permitted."""

ORDERING = (
    "never always ever do don't please must should shall will would can could may cannot also really you we i the a an and but so ok "
    "okay dont cant wont pls you're we're they're it's that's i'm be is are now no not yes stop avoid actually instead sorry either too "
    "then"
)
BINDING_WORDS = frozenset(ORDERING.split())
"""What makes an order, or joins sentences: without these it says what is ordered or forbidden."""

NOUN_WORDS = "import export string return user tool name value type content text example table role"
NOUNS = frozenset(NOUN_WORDS.split())
"""Words that name no subject beside a value, as they are in every record; in an order they do."""

LIFTING = (
    "ban bans lifted gone withdrawn dropped allowed permitted free open unlocked fine needed necessary required forget scrap ignore lift "
    "withdraw cancel cancelled canceled revoke restriction embargo constraint freeze need needs have has just again that today touch "
    "anything rule rules whenever anytime like feel feels good happily sent fair game said told mentioned earlier "
    "everyone knows know talk tell speak dead void history"
)
SAYING_NOTHING = (STOP - NOUNS) | frozenset(LIFTING.split())
"""Words of which none says what an order, or its end, is of."""

CHOICES = "中文|汉语|英文|英语|日文|日语|日本語|英語|中国語|韓国語"
LATIN_CHOICES = "english french german spanish italian portuguese dutch polish russian chinese japanese korean"
ALTERNATIVES: tuple[tuple[str, str], ...] = (
    ("language", f"{LATIN_CHOICES} {CHOICES.replace('|', ' ')}"),
    ("count", "one two three four five six seven eight nine ten twelve twenty once twice"),
    ("indent", "tabs spaces"), ("quotes", "single double"), ("package manager", "npm pnpm yarn"), ("switch", "enabled disabled"),
)
# fmt: on
"""Words of which only one can be ordered where all other words are the same."""

RIVALS: tuple[tuple[str, str], ...] = (
    ("formatter format formatting", "black ruff yapf autopep8"),
    ("formatter format formatting", "prettier biome dprint"),
    ("linter lint linting", "ruff flake8 pylint"),
    ("linter lint linting", "eslint biome oxlint"),
    ("test tests testing runner", "pytest unittest nose"),
    ("test tests testing runner", "jest vitest mocha"),
    ("package packages manager", "npm pnpm yarn bun"),
    ("package packages manager", "pip uv poetry pipenv conda pdm"),
    ("database", "postgres postgresql mysql mariadb sqlite oracle"),
    ("client", "requests httpx aiohttp urllib3"),
    ("checker", "mypy pyright pyre"),
    ("container containers", "docker podman"),
    ("language", f"{LATIN_CHOICES} {CHOICES.replace('|', ' ')}"),
    ("indentation", "tabs spaces"),
    ("quotes", "single double"),
)
"""What such things are called, and their names: with a word of change, one takes the place of another."""

KINDS = {word: kind for kind, words in ALTERNATIVES for word in words.split()}
RIVAL_ROWS = {
    word: frozenset(row for row, (_, names) in enumerate(RIVALS) if word in names.split()) for _, names in RIVALS for word in names.split()
}
"""The rows of ``RIVALS`` that a word stands in."""

FURTHER = re.compile(r"(?i)\bwith(?:out)?\b")
"""What says more of a thing that is chosen than its name."""

TAKEN = re.compile(r"(?i)(?:\b(?:use|using|with|in|prefer)\s+|[用成为])\s*$")
"""What stands before a thing that an order chooses."""
