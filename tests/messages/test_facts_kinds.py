"""Facts by the kinds that are hard to tell from words: a group of examples for each, and an unseen one."""

from __future__ import annotations

import pytest

from host.messages.facts import constraints_in, told, values_in

# fmt: off
VALUES: list[tuple[str, tuple[str, ...]]] = [
    # plain decimals, statuses, amounts in records
    ("The lamp is 12.50 and the shade 7.95, total 20.45.", ("12.50", "7.95", "20.45")),
    ("| item | price |\n| rope 10m | 18.40 |\n| hook | 3.25 |", ("18.40", "3.25")),
    ("{\"price\":18.40,\"vat\":3.50}", ("18.40", "3.50")),
    ("mean 4.812\nstd  0.337\nr2   0.9912", ("4.812", "0.337", "0.9912")),
    ("Wilcoxon W = 211.5, p = 0.0031, n = 44", ("211.5", "0.0031")),
    ("temp 36.9  pulse 71  spo2 97.5", ("36.9", "97.5")),
    ("{\"amount\": 48200, \"account\": \"A\"}", ("48200",)),
    ("deposit 48200\nbalance 113905", ("48200", "113905")),
    ("the endpoint gave me a 409 again, then 422", ("409", "422")),
    ("we keep seeing 503 from the gateway", ("503",)),
    ("rsync  total 88214 speedup 1.07", ("88214", "1.07")),
    ("AUC=0.871 (0.842-0.899)", ("0.871", "0.842-0.899")),
    ("{\"lat\": 47.3769, \"lon\": 8.5417}", ("47.3769", "8.5417")),
    # settings as a whole
    ("set max_x=100 and gain_db=6", ("max_x=100", "gain_db=6")),
    ("[server]\nworkers = 8\nbind_addr = 0.0.0.0", ("workers = 8", "bind_addr = 0.0.0.0")),
    ("run with OMP_NUM_THREADS=4", ("OMP_NUM_THREADS=4",)),
    ("stepper_current: 0.8\nhome_speed: 40", ("stepper_current: 0.8", "home_speed: 40")),
    ("please put log_level=debug in there", ("log_level=debug",)),
    ("把 batch_size=64 改一下", ("batch_size=64",)),
    ("dtoverlay=pi3-disable-bt", ("dtoverlay=pi3-disable-bt",)),
    ("shared_buffers = 4GB", ("shared_buffers = 4GB",)),
    ("net.core.somaxconn=1024", ("net.core.somaxconn=1024",)),
    # signed numbers with any unit
    ("true peak -1 dBTP, loudness -14 LUFS", ("-1 dBTP", "-14 LUFS")),
    ("offset +3 ppq", ("+3 ppq",)),
    ("bias at -48 VDC, gain +12 dBu", ("-48 VDC", "+12 dBu")),
    ("set it to -0.7 EV", ("-0.7 EV",)),
    ("trim by -25 cts", ("-25 cts",)),
    ("target is -23 LUFS ±0.5 LU", ("-23 LUFS", "0.5 LU")),
    ("the drift is +2.4 arcsec", ("+2.4 arcsec",)),
    ("kompensieren mit -2 dptr", ("-2 dptr",)),
    ("noise floor -92 dBFS", ("-92 dBFS",)),
    ("増幅は -6 dBu です", ("-6 dBu",)),
    # identifiers and names
    ("cite garcia2021sparse there", ("garcia2021sparse",)),
    ("as in wu2018multi and lee2020b", ("wu2018multi", "lee2020b")),
    ("move the weekly-reports job to Monday", ("weekly-reports",)),
    ("把 night-audit 这个任务停掉", ("night-audit",)),
    ("夜間は stock-sync を止めてください", ("stock-sync",)),
    ("post it in #field-ops and #general", ("#field-ops", "#general")),
    ("define \\eps and \\myvec in the preamble", ("\\eps", "\\myvec")),
    ("the password is TULIP, tell Jo", ("TULIP",)),
    ("codeword: MARZIPAN", ("MARZIPAN",)),
    ("the table orders has a column placed", ("orders", "placed")),
    ("column buyer_ref in table ledger", ("buyer_ref", "ledger")),
    ("the key is x7Gp2QvL9", ("x7Gp2QvL9",)),
    ("job k3s9dq8 on node ab12cd", ("k3s9dq8", "ab12cd")),
    ("cluster name: harbor-east", ("harbor-east",)),
    ("use \\citep not \\cite", ("\\citep", "\\cite")),
    ("暗号は KIWI です", ("KIWI",)),
    ("口令是 MANGO", ("MANGO",)),
    ("@book{hale2015tides,", ("hale2015tides",)),
    # what failures say
    ("error: cannot lock ref", ("cannot lock ref",)),
    ("!! Heater not responding", ("Heater not responding",)),
    ("ValueError: bad magic number in header", ("bad magic number in header",)),
    ("I get Move out of range all the time", ("Move out of range",)),
    ("fatal: not a git repository", ("not a git repository",)),
    ("it says error: bed too hot, what now", ("bed too hot",)),
    ("the error Lost communication with MCU came up", ("Lost communication with MCU",)),
    ("printer stops with 'Timer too far'", ("Timer too far",)),
    ("E: Unable to locate package foo", ("Unable to locate package foo",)),
    ("ERROR: duplicate key value violates unique constraint", ("duplicate key value violates unique constraint",)),
    ("Undefined control sequence is the error I see", ("Undefined control sequence",)),
    ("! LaTeX Error: Missing number, treated as zero.", ("Missing number, treated as zero",)),
    ("it fails with Broken pipe", ("Broken pipe",)),
    ("エラーは Disk full でした", ("Disk full",)),
    ("报错 Segment not found，怎么办", ("Segment not found",)),
    # rooms, trains, titles
    ("在科技楼 305 教室上课", ("305",)),
    ("去 6号楼 402 室", ("6号楼", "402")),
    ("会议在行政楼 508", ("508",)),
    ("《海边的咖啡馆》周五截稿", ("海边的咖啡馆",)),
    ("题目是 城市热岛效应研究，别改", ("城市热岛效应研究",)),
    ("项目名叫 青鸟计划", ("青鸟计划",)),
    ("タイトルは 夏の終わり にします", ("夏の終わり",)),
    ("那本书叫做《山海》", ("山海",)),
    ("のぞみ 505号 で行きます", ("のぞみ 505号",)),
    ("ひかり 641号、7号車", ("ひかり 641号",)),
    ("一共付了 48600，押金 3000", ("48600", "3000")),
    ("退款要 7 个工作日", ("7 个工作日",)),
    ("3-5 个工作日内到账", ("3-5 个工作日",)),
    ("合計 15400 円、手数料 1200", ("15400 円", "1200")),
    ("G1234次 9 点出发", ("G1234",)),
    ("名前は『青い鳥』です", ("青い鳥",)),
    # quoted texts
    ("Name the album \"Slow Harbour\" please", ("Slow Harbour",)),
    ("the subject line should be \"Your order is late\"", ("Your order is late",)),
    ("change the message to \"Try again later\"", ("Try again later",)),
    ("replace \"Dear all\" with \"Hello team\"", ("Dear all", "Hello team")),
    ("my band is called 'The Quiet Ones'", ("The Quiet Ones",)),
    ("title: “Under the Bridge”", ("Under the Bridge",)),
    ("把标题改成“春天来了”", ("春天来了",)),
    ("the literal \"N/A\" must stay", ("N/A",)),
    ("the file starts with \"BEGIN DATA\"", ("BEGIN DATA",)),
    ("Die Überschrift lautet „Neue Wege“", ("Neue Wege",)),
    ("the greeting is \"Good morning, crew\"", ("Good morning, crew",)),
    ("the sign on the door: \"Mind the step\"", ("Mind the step",)),
    ("the slogan \"Warm hands\" stays", ("Warm hands",)),
    # written after the code
    ("Sourdough loaf is 6.80 now, the seeded one 7.40, slices 1.10 each.", ("6.80", "7.40", "1.10")),
    ("| tank | do_mg | nh3 |\n|---|---|---|\n| T4 | 7.62 | 0.018 |", ("7.62", "0.018")),
    ("{\"ticket\":\"HX-88\",\"refund\":61350,\"fee\":12.75}", ("HX-88", "61350", "12.75")),
    ("Estimate Std.Error t\n(Intercept) 3.184 0.207 15.38", ("3.184", "0.207", "15.38")),
    ("opening balance   73450\nclosing balance   70915", ("73450", "70915")),
    ("Kiosk answers 429 after lunch, sometimes a 500.", ("429", "500")),
    ("try queue_depth=32 with io_mode=direct", ("queue_depth=32", "io_mode=direct")),
    ("pid_kp: 22.8\nmax_temp: 275\nsensor_type: ntc100k", ("pid_kp: 22.8", "max_temp: 275", "sensor_type: ntc100k")),
    ("limiter ceiling -1.5 dBTP, sidechain +4 dBVU", ("-1.5 dBTP", "+4 dBVU")),
    ("focus shift of -0.3 dioptres, tilt +15 arcmin", ("-0.3 dioptres", "+15 arcmin")),
    ("quote okafor2022tidal and li2017", ("okafor2022tidal", "li2017")),
    ("Please stop nightly-rollup until Monday", ("nightly-rollup",)),
    ("明天把 price-feed 停掉，通知发到 #运维值班", ("price-feed", "#运维值班")),
    ("bring the notes to #crew-chat", ("#crew-chat",)),
    ("redefine \\vec and drop \\hfill", ("\\vec", "\\hfill")),
    ("Safe word is JUNIPER, door code 5519.", ("JUNIPER", "5519")),
    ("rows in the table parcels are doubled, column weight_g is empty", ("parcels", "weight_g")),
    ("!! MCU 'mcu' shutdown: Timer too close", ("Timer too close",)),
    ("it printed error: layer shift detected", ("layer shift detected",)),
    ("Then I got Heater not heating at expected rate again", ("Heater not heating at expected rate",)),
    ("KeyError: missing column weight_g", ("missing column weight_g",)),
    ("答辩在明德楼 412 教室，题目是 城市夜间照明的能耗，要 5 个工作日。", ("明德楼 412", "城市夜间照明的能耗", "5 个工作日")),
    ("やまびこ 133号 で、タイトルは 冬の灯台 でお願いします", ("やまびこ 133号", "冬の灯台")),
    ("《长夜将明》一共退了 23800，还差 1950。", ("长夜将明", "23800", "1950")),
    ("Call the second chapter \"Salt and Rope\" and sign it 'The Night Crew'.", ("Salt and Rope", "The Night Crew")),
    ("The banner should read \"Closed for repairs\".", ("Closed for repairs",)),
    ("Der Ordner heißt „Alte Briefe“, Preis 18,50", ("Alte Briefe", "18,50")),
    ("wallet 9f3Kd72LmQ got 0.0415", ("9f3Kd72LmQ", "0.0415")),
]

NONE = [
    "we had 3 of them", "step 2 of 5", "I'm 100% sure", "it's so \"fun\"", "he said \"sure thing\"", "well-made and long-lasting",
    "a day-to-day job", "the table was set", "a column of smoke", "the key to it is patience", "my password is secret stuff",
    "the name of the game", "error-prone code", "no errors: good", "the user asked: what now", "note: see below", "Title: none",
    "the code is fine", "name it as you wish", "thanks: all good", "他叫我去", "叫做什么都行", "1. one\n2. two", "line 12 of 40",
    "99 problems",
    "a two-thirds majority", "the first-ever try", "one-off", "the last-minute rush", "I said: fine", "two-factor auth",
    "the URL and API", "PS: nice", "so much (too much) work", "row by row",
]

RULES = [
    "Refunds over £30 always go through Tilda, tilda@x.example.", "Invoices above 500 always go to Kim, kim@y.example.",
    "Never ship on Sundays.", "Anything for the press must pass through Olga first, olga@z.example.",
    "All complaints always land with me.", "不要改标题。", "必ず確認してください。", "From now on answer in French.",
    "My rule: no calls after nine.",
    "I say never push to main.", "Remember: the policy of this project is never to delete rows.", "先别发，等我说。",
    "Orders below 20 must not get free shipping.", "Returns above £80 always need a photo, send them to bo@shop.example.",
    "From now on write all titles in lower case.", "别用缩写。", "この鍵は誰にも貸さないでください。", "Never quote a price by phone.",
    "Deliveries always go via Kemal, kemal@dock.example.",
]

NO_RULES = [
    "I must sound so ungrateful.", "I must look like a fool right now.", "不要问我为什么。", "别问我怎么知道的。",
    "「必ず」という言葉が嫌いです。",
    "My dad says one must always lock the door.", "I am told one should never mix them.",
    "The policy says: refunds must be filed in 14 days.", "The mail says:\nNever reply to this address.", "必ず予約が必要だそうです。",
    "「土足禁止」と書いてある。", "Their site states that returns are only accepted unopened.", "From now on I'm a dad, by the way.",
    "从现在起我就是组长了。",
    "今後は彼が担当だそうです。", "You must think I'm silly.", "never in my life", "My coach keeps telling me never to skip.",
    "According to the manual you must never rinse it.", "我妈说不能空腹喝。", "老师说必须背下来。", "I can't be bothered, don't ask.",
    "don't get me started", "Don't ask.", "The letter says:\n\nAll tenants must move their bikes.", "From next week I'll be in Rome.",
    "I have to say I only slept two hours.", "As they say, never change a running system.", "The sign reads: no dogs.",
    "医者は絶対に飲むなと言いました。", "不要太感动哦", "不能再赞了", "可别提了", "I must be getting old.", "always the same with trains",
    "Supposedly you must not feed them.", "people say you should never wake a sleepwalker", "I must sound like a broken record.",
    "不要问我是怎么想的。", "My landlord says you must never flush grease.", "The notice in the hall says:\nBikes must not be left here.",
    "予約は必ず前日までだそうです。", "「関係者以外立入禁止」と書いてある。",
]
# fmt: on


def overlap(first: tuple[int, int], second: tuple[int, int]) -> int:
    return max(0, min(first[1], second[1]) - max(first[0], second[0]))


@pytest.mark.parametrize(("text", "values"), VALUES, ids=[text for text, _ in VALUES])
def test_a_value_that_looks_like_words_is_found(text: str, values: tuple[str, ...]) -> None:
    meant = {value: (text.find(value), text.find(value) + len(value)) for value in values}
    found = [(fact.start, fact.end) for fact in values_in(text)]
    assert [value for value, span in meant.items() if not any(2 * overlap(span, one) >= len(value) for one in found)] == []


@pytest.mark.parametrize("text", NONE)
def test_words_that_lead_to_names_elsewhere_hold_no_value(text: str) -> None:
    assert [fact.text for fact in values_in(text)] == []


@pytest.mark.parametrize("sentence", RULES)
def test_a_rule_of_the_users_own_is_found_whole(sentence: str) -> None:
    assert [fact.text for fact in constraints_in(sentence)] == [sentence]


@pytest.mark.parametrize("text", NO_RULES)
def test_idioms_hearsay_and_others_words_bind_nothing(text: str) -> None:
    assert constraints_in(text) == []


def test_what_follows_the_words_of_another_is_the_users_again() -> None:
    text = "The mail says:\nNever reply to this address.\n\nNever ship on Sundays."
    assert [fact.text for fact in constraints_in(text)] == ["Never ship on Sundays."]


def test_of_a_setting_the_value_is_told_and_the_whole_is_found() -> None:
    text = "pool_size = 12\nbackend = redis-main"
    facts = values_in(text)
    assert {"pool_size = 12", "12"} <= {fact.text for fact in facts}
    assert "pool_size = 12" not in {one.fact.text for one in told(facts, text, row=1, role="tool")}
