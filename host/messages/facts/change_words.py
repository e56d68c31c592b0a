"""The wording of change in three languages: what marks a value as new, old, kept or bounded, and what names no subject."""

from __future__ import annotations

import re

# fmt: off
STOP_WORDS = (
    "a about above after again all also am an and any are as at be because been before being below but by can could did do does "
    "doing done down each even few for from further get gets give go goes got had has have having he her here him his how i if in "
    "into is it its just let like me more most my no nor not now of off ok on once one only or other our out over own please put "
    "same say says see set shall she should since so some such take takes than that the their them then there these they this "
    "those through to too under until up us use used using very was we were what when where which while who why will with without "
    "would yes yet you your new old instead changed change changes moved move switch raise raised lower lowered make still stays "
    "stay keeps keep actually sorry rather must never always don doesn isn won ll ve re user tool true false null none const "
    "string return def import int str name value id type content text http https www com example last first two three need needs "
    "want wants thing things second seconds minute minutes hour hours day days rule rules"
)
STOP = frozenset(STOP_WORDS.split())
CONCEPTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("timeout", ("timeout", "超时", "タイムアウト")), ("port", ("port", "端口", "ポート")),
    ("database", ("database", "数据库", "データベース")), ("version", ("version", "版本", "バージョン")),
    ("server", ("server", "服务器", "サーバ")), ("release", ("release", "发布", "上线", "公開", "リリース")),
    ("deadline", ("deadline", "截止", "期限", "締め切り")), ("budget", ("budget", "预算", "予算")),
    ("branch", ("branch", "分支", "ブランチ")), ("interval", ("interval", "间隔", "間隔")),
    ("limit", ("limit", "上限", "限制", "制限")), ("backup", ("backup", "备份", "バックアップ")),
    ("meeting", ("meeting", "会议", "会議")), ("production", ("production", "生产", "本番")),
    ("threshold", ("threshold", "阈值", "閾値", "しきい値")), ("retry", ("retry", "retries", "重试", "再試行", "リトライ")),
    ("table", ("table", "表名", "テーブル")),
)
"""What a subject is called in three languages, in small letters."""
UNITS: tuple[tuple[re.Pattern[str], str], ...] = tuple((re.compile(rf"(?:{units})(?![A-Za-z])"), name) for units, name in (
    (r"(?:m|µ|u|n)?s|secs?|seconds?|min(?:ute)?s?|h|hrs?|hours?|d|days?|weeks?|months?|years?|毫秒|秒钟?|分钟?|分間|小时|時間|天|日間?|"
        r"周|週間|个月|か月|nights?", "time"),
    (r"[KMGTP]i?B?|[KMGTP]i|kB|bytes?|字节|バイト", "size"), (r"%|percent|per cent|パーセント|百分点", "share"),
    (r"EUR|USD|GBP|CHF|JPY|CNY|euros?|dollars?|cents?|[€$£¥]|元|円|欧元|美元|人民币|ドル|ユーロ", "money"),
))
NEW = re.compile(
    r"""(?ix) \b (?:now|we \s+ want|correct|earlier|later|goes \s+ to (?=\s+[v$€]?\d)|take|instead|
      chang(?:e|ed|es|ing)|mov(?:e|ed|es)|switch(?:ed)?|rais(?:e|ed)|lower(?:ed)?|
      increas(?:e|ed)|reduc(?:e|ed)|cut|extend(?:ed)?|postponed?|
      push(?:ed)? \s+ back | shift(?:ed)? | brought? \s+ forward | updat(?:e|ed) | no \s+ longer | rather | actually | correction | sorry
      | scratch | make \s+ (?:it|that) | go \s+ up | up \s+ to |
      from \s+ (?:now|tomorrow|today) | replac(?:e|es|ed|ing) | enough | i['’]d \s+ (?:like|prefer|say) | better | new |
      slip(?:s|ped)? | delayed |
      renamed? | turned \s+ out | retired | after \s+ all | wait | let['’]s |
      on \s+ second \s+ thought | i \s+ was \s+ wrong | mistake | my \s+ bad | oops | became | becomes | swapped? | bump(?:ed)?
      | give \s+ it | set \s+ it | upgrad(?:e|ed|ing) | downgrad(?:e|ed|ing) | escalat(?:e|ed) | promot(?:e|ed) | demot(?:e|ed)
      | shorten(?:ed)? | doubled? | halved? | back \s+ to | down \s+ to | drop(?:ped)? \s+ to | this \s+ time | corrected | revised
      | shall \s+ (?:write|be|go|use))\b
    | 改成 | 改为 | 改到 | 改用 | 改了 | 换成 | 换到 | 也?要换 | 换了 | 推迟 | 提前 | 调到 | 调整 | 现在 | 更新 | 更正 | 不对 | 其实
    | 延长 | 延期 | 升级 | 升到 | 降到 | 降为 | 说错 | 记错 | 变成 | 变为 | 变更 | 收紧 | 放宽 | 改口 | 恢复到? | 回到
    | 换一?下 | 降级 | 定为 | 以.{1,12}为准 | 涨到 | 加到 | 减到 | 重新
    | 変更 | 変わり | 変わっ | やはり | やっぱり | に直 | 更新 | 延期 | ではなく | 改め | になりました | になります | となりました
    | にします | に決ま | でお願いします | 切替 | 以降は | になった | 新しい | 訂正 | 間違 | 変え | に替え | 切り替え | 前倒し | 引き上げ
    | 引き下げ | に増や | に減ら | すみません | 今は | 上げ | 下げ | 延ば | 伸ば | 移り | 移し | 移行 | 移る | では\s""")
STATUS = re.compile(r"(?:^|[^a-z])(?:pid|mainpid|ttl|status|state|lag|load|count|total|latency|time|version|age|avg|mean|median|uptime|"
    r"free|used|size|score|rate|p\d+)$")
KEPT_WORDS = re.compile(
    r"(?i)\b(?:unchanged|stays?|keeps|keep (?:its|their|his|her|both|as)|keep(?=\s*$)|remains?|as before|as (?:it|they) (?:is|are|was|were)|still|second|another|other|own|separate|"
        r"friend['’]?s?|suggest|propose|as well|untouched|different|only for|for (?:one|a) trial)\b"
    r"|そのまま|变わりません|変わりません|変わらない|別の|もう一つ|不变|不動|不动|另一|另外一|自己的|照旧|还是原来|依旧|保持|沿用|"
        r"建议|変えません|のまま")
OLD_BEFORE = re.compile(
    r"(?i)(?:\b(?:instead of|rather than|not|no longer|no more|replac(?:es|ed|ing)|old|former(?:ly)?|previous(?:ly)?|earlier|was|"
        r"used to be|retired|forget|drop|scrap|outdated|stale|wrong|supersedes)(?: (?:the|a|an|at|on|in|to|be|our|is))*[ :]"
    r"|[\"']?(?:replaces|supersedes|previous\w*|old\w*|was)[\"']?\s?[:=]\s?[\"'`]?|旧的?|(?:原来|之前|以前|本来|原本|原先)(?:的|是|为|"
        r"写的?)?|不是|不用|不再用?|不要用|取代|替换|古い|以前の|前の|旧|元の)[\s「“\"'`]{0,3}$")
OLD_AFTER = re.compile(
    r"(?i)[`\"'」”]?\s?(?:(?:ではなく|じゃなく|でなく|は古い|は廃止|は使わ|から|より)|(?:->|→|=>)|(?:is|are|was|got|"
        r"has been) (?:now )?(?:old|gone|retired|history|dead|wrong|outdated|cancelled|replaced|dropped|no longer|shut|off|switched off|turned off|deprecated)\b|(?: has| just)? (?:died|crashes|crashed|broke down|burnt out|was retired)\b|(?:都|"
        r"统一)?(?:改成|改为|换成|换到|改到)|作废|不用了|停用|让给|下线|废弃|过期|有误|取消|は(?:停止|終了|間違))")
BOUNDS = re.compile(
    r"(?i)(?:\b(before|after|until|above|below|under|over|at most|at least|more than|less than|within|by|up to)|(不超过|至少|最多|以内|"
        r"不得超过|上限|下限))[ 是为は]{0,2}$"
)
TURN = re.compile(
    r"(?i)i['’]d (?:like|prefer|say)|make (?:it|that)|(?:is|are) now|becomes?\b|\binstead\b|should be|->|→|改成|改为|改到|改用|换成|"
        r"推迟到|提前到|调到|而是|に変更|ではなく|から|へ"
)
FROM = re.compile(r"(?i)\bfrom [`\"']?$")
# fmt: on
