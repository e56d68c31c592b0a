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
    ("deadline", ("deadline", "截止", "期限", "締め切り", "締切", "交稿", "截稿")), ("budget", ("budget", "预算", "予算")),
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
STATUS = re.compile(r"(?:^|[^a-z])(?:pid|mainpid|ttl|status|state|lag|load|count|total|latency|time|version|age|avg|mean|median|uptime|"
    r"free|used|size|score|rate|p\d+)$")
KEPT_WORDS = re.compile(
    r"(?i)\b(?:unchanged|stays?|keeps|keep (?:its|their|his|her|both|as)|keep(?=\s*$)|remains?|as before|as (?:it|they) (?:is|are|was"
    r"|were)|still|second|another|other|own|separate|"
        r"friend['’]?s?|suggest|propose|as well|untouched|different|only for|for (?:one|a) trial)\b"
    r"|そのまま|变わりません|変わりません|変わらない|別の|もう一つ|不变|不動|不动|另一|另外一|自己的|照旧|还是原来|依旧|保持|沿用|"
        r"建议|変えません|のまま")
OLD_BEFORE = re.compile(
    r"(?i)(?:\b(?:instead of|rather than|not|no longer|no more|replac(?:es|ed|ing)|old|former(?:ly)?|previous(?:ly)?|earlier|was|"
        r"used to be|retired|forget(?:\s+about)?|drop|scrap|outdated|stale|wrong|supersedes)(?: (?:the|a|an|at|on|in|to|be|our|is))*[ :]"
    r"|[\"']?(?:replaces|supersedes|previous\w*|old\w*|was)[\"']?\s?[:=]\s?[\"'`]?|旧的?|(?:原来|之前|以前|本来|原本|原先)(?:的|是|为|"
        r"写的?)?|不是|不用|不再用?|不要用|取代|替换|古い|以前の|前の|旧|元の)[\s「“\"'`]{0,3}$")
OLD_AFTER = re.compile(
    r"(?i)[`\"'」”]?\s?(?:(?:ではなく|じゃなく|でなく|は古い|は廃止|は使わ|から(?!に)(?=[^。]{0,24}[にへ])|より)"
    r"|(?:->|→|=>)|(?:is|are|was|got|is being|are being|"
        r"has been) (?:now )?(?:old|gone|retired|history|dead|wrong|outdated|cancelled|replaced|dropped|no longer|shut|off"
        r"|switched off|turned off|deprecated|taken|occupied|already (?:in use|used|taken)|in use|broken|buggy|blocked|leaking|unstable"
        r"|too old|unsupported|expired|sold out|(?:fully )?booked|discontinued|out of stock|unavailable|out(?=\s*[.,;!]|$))(?!\w)"
        r"|(?: has| just)? (?:died|expired|crashes|crashed|broke down|burnt out"
        r"|was retired|leaks?|fails|is leaky|has (?:a|an) (?:\w+ )?(?:bug|leak|cve|vulnerability)|segfaults|hangs)\b"
        r"|\s?(?:有|存在)\S{0,6}?(?:泄漏|漏洞|问题|bug)|被占"
        r"|已占用|会?崩溃|(?:都|统一)?(?:改成|改为|换成|换到|改到)"
        r"|作废|不用了|没票|没了|没货|卖完|售罄|订满|失效|停用|让给|下线|废弃|过期|有误|取消|は(?:停止|終了|間違))")
BOUNDS = re.compile(
    r"(?i)(?:\b(before|after|until|above|below|under|over|at most|at least|more than|less than|within|by|up to)|(不超过|至少|最少|最多"
        r"|以内|不得超过|上限|下限))[ 是为は]{0,2}$"
)
TURN = re.compile(
    r"(?i)i['’]d (?:like|prefer|say)|make (?:it|that)|(?:is|are) now|becomes?\b|\binstead\b|should be|->|→|改成|改为|改到|改用|换成|"
        r"推迟到|提前到|调到|而是|に変更|ではなく|から|へ"
)
EXCHANGES = re.compile(
    r"(?i)\b(?P<verb>replac(?:e|es|ed|ing)|swap(?:s|ped|ping)?|trad(?:e|ed|ing)|chang(?:e|es|ed|ing)|renam(?:e|es|ed|ing)"
    r"|updat(?:e|es|ed|ing)|bump(?:s|ed|ing)?|upgrad(?:e|es|ed|ing)|migrat(?:e|es|ed|ing))\s+(?:(?:the|our|my|its|your)\s+)?"
    r"(?:(?!with\b|to\b|by\b|for\b|from\b)[\w-]+\s+){0,2}[`\"']?$"
)
EXCHANGED = re.compile(r"(?i)[`\"']?\s(?:with|by|for|to)\s(?:the\s)?(?:[\w-]+\s)?[`\"']?(?=\S*[\d/_.-])")
"""What stands before and after the first of two values of which the second takes the place ("swap the A host for B")."""
FROM = re.compile(r"(?i)\bfrom [`\"']?$")
# fmt: on
