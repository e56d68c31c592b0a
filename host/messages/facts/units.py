"""What numbers are counted in: tables of units, months and words that stand right after a number."""

from __future__ import annotations

import re
from functools import lru_cache

# fmt: off
SYMBOL = re.compile(
    r"[pnuµμmcdhkKMGTP]?(?:[gmlLsVAWJNFHM]|Hz|Pa|Nm|Da|bps|bp|mol|bit|eV|Ω|ohm|Wh|Ah|cal|bar|Sv|Gy|IU|W?p|bit/s)|"
    r"[KMGTP]?i?B|[KMGTP]i|[kMGT]b|[dkKTMGhV]|°[CFKNSEWB]?|dB[AVm]?|[ckm]?m[²³23]|kt|rpm|min|sec")
"""Unit signs with their prefixes."""

UNITS_WORDS = (
    "millisecond milliseconds us secs second seconds mins minute minutes hr hrs hour hours day days week weeks month months "
    "year years "
    "percent bytes byte bits baud kbps mbps Mbps Gbps EUR USD GBP RMB CHF JPY CNY KRW INR BRL AUD CAD SEK NOK DKK PLN RUB euro euros Euro "
    "dollar dollars pound pounds cent cents yen yuan bucks reais pesos francs px pt em rem dpi ppi fps ppm ppb pH bpm degrees degree deg "
    "inch inches ft feet foot yd yards miles mile mi mph kph lb lbs oz acres ha litres liters litre liter grams gram kilos kilo metres "
    "meters tons tonnes tbsp tsp cups cup pcs pc pieces pages page words word characters character chars char tokens token rows row "
    "rps qps connections connection replicas replica retries worker workers thread threads core cores night nights "
    "cycle cycles "
    "psi gsm lumen lumens lux kcal mmHg rh people persons epochs epoch guests seats "
    "Tag Tage Tagen Woche Wochen Monat Monate Monaten Jahr Jahre Jahren Stunde Stunden Std Minute Minuten Min Sekunde Sekunden "
    "Stück Personen "
    "Leute Seiten Zeilen Wörter Zeichen Prozent Grad Meter Liter Gramm Kilo Franken Nächte "
    "jour jours semaine semaines mois an ans heure heures personnes jour-homme pourcent mètres "
    "día días dia dias semana semanas mes meses mês año años ano anos hora horas minuto minutos segundo segundos personas pessoas "
    "euros"
)
UNITS = frozenset(UNITS_WORDS.split())

MONTHS_WORDS = (
    "jan january feb february mar march apr april may jun june jul july aug august sep sept september oct october nov november dec "
    "december "
    "januar jänner februar märz mai juni juli oktober dezember "
    "janvier février fevrier mars avril juin juillet août aout septembre octobre novembre décembre decembre "
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre "
    "janeiro fevereiro março maio junho julho setembro outubro novembro dezembro"
)
MONTHS = frozenset(MONTHS_WORDS.split())
LOWER_MONTHS = MONTHS - {"may", "mar", "mars", "march", "mai", "dec", "sep", "jun", "jan"}
"""Months that are told from other words even where they begin with a small letter and stand before the day."""

ZONES = frozenset({"UTC", "GMT", "CEST", "CET", "JST", "CST", "PST", "PDT", "EST", "EDT", "BST", "IST", "MSK", "Uhr"})

CJK_UNITS = (
    "个工作日|個工作日|营业日|営業日|工作日|毫秒|微秒|秒钟?|分钟|分間|分|小时|时间|時間|钟头|天|晚|日間|日以内|日|周|週間|个月|か月|ヶ月|カ月|个星期|星期|季度|年間|年|岁|歳|"
    "欧元|美元|美金|日元|人民币|韩元|英镑|港币|元|円|ドル|ユーロ|ポンド|ウォン|块钱?|万|兆|億|亿|千|"
    "字节|バイト|字符|文字|字|条|件|行|次|回|度|号|人|名|位|台|本|个副本|副本|个并发|个人|倍|页|頁|枚|ページ|パーセント|百分点|割|"
    "平方米|平米|立方米|公里|公斤|千克|毫克|微克|克|斤|毫米|厘米|千米|米|毫升|升|キロ|メートル|センチ|ミリ|グラム|リットル|世代|接続|"
    "桌|席|间|間|层|階|楼|室|栋|套|户|份|箱|盒|瓶|杯|碗|袋|包|把|只|匹|头|頭|张|張|双|对|根|块|片|支|辆|輛|艘|架|座|场|節|节|课|門|门|"
    "組|组|班|队|期|轮|排|棵|首|冊|册|部|篇|章|個|匹|羽|通|皿|缶|点|票|位|時|代|番|合|杯|玉|丁目|号室|番線|泊"
)

COUNTED_WORDS = (
    "passed failed left total skipped pending line lines file files error errors warning warnings test tests time times thing things "
    "point points question questions more other others step steps suite suites hit hits match matches result results passing failing "
    "ok of out ways reasons issue issues problem problems deletion deletions insertion insertions changed unchanged new fast slow "
    "occurrences changes items entries"
)
COUNTED = frozenset(COUNTED_WORDS.split())
"""Words after a number that was counted in passing, not set."""

NO_NOUN_WORDS = (
    "is was as has this his its us does goes looks seems works needs makes gives lets says gets means costs takes "
    "now then please pls too also instead again anyway thanks thx though tho lol okay only first and but for not with the that these those "
    "will would should could can may must might are were been being have had do did go use set try so yes no never always still just "
    "already yet here there today tomorrow max min each at most at least or if when while before after until since from into onto "
    "about above below under over per than more less sorry right sure good fine great nice works better best worse perhaps maybe always "
    "wide high tall long deep thick old young big small large "
    "back up down off on out in to of by per plus minus times both all any some one it he she they we you them our your my me him her "
    "und oder aber bitte nicht mit für auf von bei bis ist sind et ou mais pour avec pas est sont y o pero para con no es son mas com que"
)
NO_NOUN = frozenset(NO_NOUN_WORDS.split())

PRODUCTS_WORDS = (
    "Python Node node node.js PostgreSQL Postgres MySQL MariaDB Redis SQLite MongoDB Kafka iOS iPadOS Android Ubuntu Debian Fedora "
    "Alpine Java JDK Go Ruby Rails Django Xcode macOS Windows Swift Kotlin TypeScript React Vue Angular Chrome Firefox Safari "
    "Kubernetes Docker nginx PHP Gradle Rust Spring Terraform Elasticsearch Linux kernel API version Version release Release build "
    "Build tag"
)
PRODUCTS = frozenset(PRODUCTS_WORDS.split())
NO_NAME_WORDS = (
    "HTTP AND OR IN AT TO OF LIMIT PORT TOP ERR GET PUT POST THE FOR ON IS BY NO SET ADD EUR USD GBP JPY CHF AM PM UTC OK ID IF"
)
NO_NAME = frozenset(NO_NAME_WORDS.split())

PLACES = frozenset({"room", "hall", "gate", "platform", "seat", "bay", "dock", "pier", "track", "stand", "table"})
LABELS = frozenset({"vlan", "VLAN", "iso"})
"""Words that belong to the number after them as to a name."""

SET_TO = re.compile(
    r"(?i)(?:\b(?:(?:set|raised?|lower(?:ed)?|changed?|increased?|reduced?|up|down|back|cut|limited|capped) (?:\w+ ){0,2}to|at (?:most|"
        r"least)|(?:no )?more than|"
    r"limit(?: of| is| to)?|batch(?:es)? of|groups of|default|is|above|below|under|over|"
        r"max(?:imum)?(?: of| is)?|min(?:imum)?(?: of| is)?|instead of|rather than|make (?:it|that)|exactly)"
    r"|改成|改为|设为|调到|换成|最多|至少|不超过|上限(?:是|为)?|下限(?:是|为)?|上限は?|最大|最小|号线)[ :=]{0,2}$"
)
SET_ENDS = (
    "to", "most", "least", "than", "limit", "of", "default", "is", "above", "below", "under", "over", "max", "min", "um", "it", "that",
    "exactly", "成", "为", "到", "多", "少", "过", "限", "是", "は", "大", "小", "线",
)
"""What the words of ``SET_TO`` end with in prose."""
ORDINAL_WORDS = (
    "figure fig step epoch reviewer point question part top attempt round iteration phase number item check slide exercise"
)
ORDINALS = frozenset(ORDINAL_WORDS.split())
"""Words before a small number that only counts on."""
# fmt: on


@lru_cache(maxsize=4096)
def is_unit(word: str) -> bool:
    """Whether a word that stands after a number is a unit, also one by another (``mg/ml``, ``requests/s``)."""
    first, _, second = word.partition("/")
    if second:
        return (is_unit(first) or first.islower()) and is_unit(second)
    return word in UNITS or SYMBOL.fullmatch(word) is not None


@lru_cache(maxsize=4096)
def may_be_noun(word: str) -> bool:
    """Whether a word after a number can be what is counted."""
    return len(word) > 2 and word.islower() and word not in NO_NOUN


def is_month(word: str, *, is_before_day: bool = False) -> bool:
    """Whether a word is the name of a month; before a day, one that is a word of its own needs a capital."""
    small = word.lower()
    return small in MONTHS and (word[0].isupper() or not is_before_day or small in LOWER_MONTHS)
