"""What replaces an earlier value or rule and what only looks so, in fields and languages that the code was not written for."""

from __future__ import annotations

from typing import Any

import pytest

from host.messages.facts import FactKind, Told, current, facts_of, told
from host.messages.searchable import searchable

Turn = tuple[str, str]
U, A, T = "user", "assistant", "tool"


def heard(turns: list[Turn]) -> list[Told]:
    messages: list[Any] = [{"role": role, "content": content} for role, content in turns]
    return [
        one for row, message in enumerate(messages) for one in told(facts_of(message), searchable(message), row=row, role=message["role"])
    ]


def holding(turns: list[Turn]) -> set[str]:
    return {one.fact.text for one in current(heard(turns))}


# fmt: off
REPLACED: list[tuple[str, list[Turn], str, str]] = [
    # a word of change, the subject named again
    ("brewing: mash", [(U, "Mash at 66 °C for 60 min, please."), (A, "Noted."), (U, "let's mash at 68 °C instead, I want more body")],
     "66 °C", "68 °C"),
    ("bees: hives", [(U, "We winter 14 hives this year."), (A, "ok"), (U, "sorry, I miscounted, it's 16 hives")], "14 hives", "16 hives"),
    ("choir: tempo", [(U, "The Kyrie goes at 72 bpm."), (A, "Marked."), (U, "After yesterday's rehearsal: Kyrie at 76 bpm from now on.")],
     "72 bpm", "76 bpm"),
    ("film: fps", [(U, "Shoot everything at 25 fps."), (A, "Fine."), (U, "The client switched us to 24 fps.")], "25 fps", "24 fps"),
    ("garden: spacing", [(U, "Plant the leeks 15 cm apart."), (U, "15 cm is too tight for leeks, make it 20 cm.")], "15 cm", "20 cm"),
    ("loan: rate", [(U, "The bank offers 3.9 % fixed."), (A, "Recorded."), (U, "they came down to 3.6 % fixed!")], "3.9 %", "3.6 %"),
    ("race: start", [(U, "The half marathon starts at 09:00."), (A, "ok"), (U, "Start of the half marathon was moved to 09:30.")], "09:00", "09:30"),
    ("knitting: needle", [(U, "Needles 4 mm, gauge 22 stitches."), (A, "ok"), (U, "gauge came out wrong, bump the needles to 4.5 mm")], "4 mm", "4.5 mm"),
    ("mail: sender", [(U, "Send it from desk@moor.example."), (A, "ok"), (U, "no wait, send it from press@moor.example")],
     "desk@moor.example", "press@moor.example"),
    ("aviation: level", [(U, "File for 9000 ft."), (A, "Filed."), (U, "ATC wants us lower, 7000 ft now")], "9000 ft", "7000 ft"),
    ("called wrong", [(U, "The invoice is RE-4471."), (A, "Found."), (U, "RE-4471 was wrong, the invoice is RE-4417.")], "RE-4471", "RE-4417"),
    ("arrow", [(U, "Rename draft.tex -> paper.tex everywhere.")], "draft.tex", "paper.tex"),
    ("from to", [(U, "Cut the dose from 40 mg to 20 mg.")], "40 mg", "20 mg"),
    ("not but", [(U, "The kiln runs at 1220 °C."), (A, "ok"), (U, "not 1220 °C but 1240 °C, it's stoneware")], "1220 °C", "1240 °C"),
    ("gone", [(U, "Push to reg-1.fen.example."), (A, "ok"), (U, "reg-1.fen.example is gone, everything lives on reg-2.fen.example")],
     "reg-1.fen.example", "reg-2.fen.example"),
    # a short answer of little but a value
    ("answer: clock", [(A, "I'd open the doors at 18:00."), (U, "19:15 please")], "18:00", "19:15"),
    ("answer: money", [(A, "I put 450 EUR aside for flowers."), (U, "600 EUR, lilies are dear")], "450 EUR", "600 EUR"),
    ("answer: unit left out", [(A, "The sensor reads every 30 s."), (U, "make that 10")], "30 s", "10"),
    ("answer: unit left out, no verb", [(A, "The film plays at 40 % volume."), (U, "60 then")], "40 %", "60"),
    ("answer: percent", [(A, "I applied a discount of 5 %."), (U, "8 %")], "5 %", "8 %"),
    ("answer: path", [(A, "Exports land in /var/out/csv."), (U, "rather /srv/share/csv")], "/var/out/csv", "/srv/share/csv"),
    ("answer: date", [(A, "I pencilled the vaccination for 3 March, ok?"), (U, "hm, 10 March")], "3 March", "10 March"),
    ("answer: two of two", [(A, "The oven is set to 180 °C for 25 min."), (U, "160 °C and 40 min, it burns otherwise")], "25 min", "40 min"),
    ("answer: two of two, first", [(A, "The oven is set to 180 °C for 25 min."), (U, "160 °C and 40 min, it burns otherwise")], "180 °C", "160 °C"),
    ("answer: with a reason before", [(A, "Feeding is at 07:00."), (U, "I sleep until eight on weekends. 08:30")], "07:00", "08:30"),
    ("answer: version", [(T, "node 18.19.1"), (A, "The runner has node 18.19.1."), (U, "upgrade to 20.11.0")], "18.19.1", "20.11.0"),
    # the same statement again, no word of change
    ("again: branch", [(U, "The release branch is rel/2.4."), (A, "ok"), (U, "The release branch is rel/2.5.")], "rel/2.4", "rel/2.5"),
    ("again: batch", [(U, "Batch size is 64."), (A, "ok"), (U, "batch size 96")], "64", "96"),
    ("again: rent", [(U, "My rent is 900 EUR."), (A, "ok"), (A, "Anything else?"), (U, "rent is 940 EUR")], "900 EUR", "940 EUR"),
    ("again: key value", [(U, "max_depth=6"), (A, "ok"), (U, "max_depth=9")], "6", "9"),
    ("again: plural", [(U, "Retries: 3"), (A, "ok"), (U, "5 retries per request")], "3", "5 retries"),
    ("again: far later", [(U, "The wine tasting is for 24 people."), *[(A, "Noted.")] * 9, (U, "The tasting has 31 people.")], "24 people", "31 people"),
    ("again: of the assistant", [(A, "The kiln cools for 12 hours."), (U, "the kiln has to cool for 18 hours")], "12 hours", "18 hours"),
    ("again: deadline", [(U, "The grant deadline is 1 October, noon."), (A, "ok"), (U, "Grant deadline: 15 October")], "1 October", "15 October"),
    ("again: room", [(U, "The seminar is in room C-114."), (A, "ok"), (U, "seminar in room D-020")], "C-114", "D-020"),
    # units
    ("unit: hours and minutes", [(U, "Proof the dough for 1 h."), (A, "ok"), (U, "proof the dough for 90 min")], "1 h", "90 min"),
    ("unit: seconds", [(A, "The shutter stays open for 2 s."), (U, "too long, 800 ms")], "2 s", "800 ms"),
    ("unit: sizes", [(A, "The cache may take 2 GB."), (U, "lower it to 512 MB")], "2 GB", "512 MB"),
    # told by a tool, changed by the user
    ("tool: config", [(T, "listen_port: 7000\nworkers: 4"), (U, "set workers to 12")], "4", "12"),
    ("tool: table", [(T, "sampling rate 44100 Hz, 2 channels"), (A, "It records at 44100 Hz."), (U, "we need 96000 Hz for this")], "44100 Hz", "96000 Hz"),
    ("tool: booking", [(T, "table booked: 2026-05-04 19:00, ref TB-88"), (A, "Booked for 19:00."), (U, "the sitter is late, 20:15 for the table")],
     "19:00", "20:15"),
    ("tool: status again", [(T, "queue depth: 1840 msgs"), (A, "Draining."), (T, "queue depth: 12 msgs")], "1840 msgs", "12 msgs"),
    ("tool: same record", [(T, '{"order":"K-771","total":"84.50"}'), (A, "ok"), (T, '{"order":"K-771","total":"91.20"}')], "84.50", "91.20"),
    # chains
    ("chain of three", [(U, "Ship 200 pcs."), (A, "ok"), (U, "make it 250 pcs"), (A, "ok"), (U, "300 pcs after all")], "250 pcs", "300 pcs"),
    ("chain, bare", [(A, "The alarm rings at 06:30."), (U, "06:45"), (A, "Set."), (U, "no, 07:00")], "06:45", "07:00"),
    ("corrected at once", [(U, "Order 12 kg of clay. sorry, 15 kg")], "12 kg", "15 kg"),
    # Chinese and Japanese, German, French, Spanish
    ("zh: 改成", [(U, "合唱排练定在 19:00。"), (A, "好。"), (U, "排练改成 19:30 吧。")], "19:00", "19:30"),
    ("zh: bare", [(A, "我按 5% 的折扣算。"), (U, "8%。")], "5%", "8%"),
    ("zh: not A but B", [(U, "婚礼请 120 人。"), (A, "好的"), (U, "不是 120 人，是 150 人")], "120 人", "150 人"),
    ("zh: again", [(U, "烤箱温度 180 度。"), (A, "好"), (U, "烤箱温度 200 度")], "180 度", "200 度"),
    ("zh: 还是", [(U, "预算 8000 元。"), (A, "好"), (U, "预算还是 10000 元吧")], "8000 元", "10000 元"),
    ("ja: にして", [(A, "開演は 18:00 です。"), (U, "18:30 にしてください。")], "18:00", "18:30"),
    ("ja: ではなく", [(U, "会費は 3000円 です。"), (A, "はい"), (U, "会費は 3000円 ではなく 3500円 です。")], "3000円", "3500円"),
    ("ja: やっぱり", [(U, "塩は 10 グラム。"), (A, "はい"), (U, "やっぱり塩は 8 グラムで。")], "10 グラム", "8 グラム"),
    ("ja: again", [(U, "定員は 40名 です。"), (A, "はい"), (U, "定員は 45名 です。")], "40名", "45名"),
    ("de: doch", [(U, "Das Treffen ist um 14:00 Uhr."), (A, "Gut."), (U, "Treffen doch um 15:30 Uhr.")], "14:00", "15:30"),
    ("fr: plutôt", [(U, "Le budget est de 2000 euros."), (A, "Bien."), (U, "plutôt 2500 euros pour le budget")], "2000 euros", "2500 euros"),
    ("es: mejor", [(U, "La cena es a las 20:00."), (A, "Vale."), (U, "mejor la cena a las 21:00")], "20:00", "21:00"),
    # rules
    ("rule: lifted", [(U, "Don't open the greenhouse vents."), (A, "ok"), (U, "you can open the greenhouse vents whenever you like now")],
     "Don't open the greenhouse vents.", ""),
    ("rule: dead", [(U, "Always log the pH twice."), (A, "ok"), (U, "the rule about logging the pH twice is dead")], "Always log the pH twice.", ""),
    ("rule: another bound", [(U, "Never heat it above 80 °C."), (A, "ok"), (U, "Never heat it above 95 °C.")], "Never heat it above 80 °C.",
     "Never heat it above 95 °C."),
    ("rule: bound in other words", [(U, "Never keep milk longer than 3 days."), (A, "ok"), (U, "about the milk, keep it at most 5 days.")],
     "Never keep milk longer than 3 days.", ""),
    ("rule: no longer secret", [(U, "Don't tell Ines the date yet."), (A, "ok"), (U, "Ines knows the date, feel free to talk about it with her.")],
     "Don't tell Ines the date yet.", ""),
    ("rule: zh", [(U, "不要改字体。"), (A, "好"), (U, "字体可以改了。")], "不要改字体。", ""),
]

BOTH: list[tuple[str, list[Turn], set[str]]] = [
    ("staging and prod", [(U, "staging runs on port 8080"), (A, "ok"), (U, "prod runs on port 9090")], {"8080", "9090"}),
    ("bare qualifiers", [(U, "staging 8080, prod 9090")], {"8080", "9090"}),
    ("two ovens", [(U, "The left oven is at 180 °C."), (A, "ok"), (U, "The right oven is at 210 °C.")], {"180 °C", "210 °C"}),
    ("also", [(U, "Call 555-0142 in an emergency."), (A, "ok"), (U, "You can also call 555-0177 in an emergency.")], {"555-0142", "555-0177"}),
    ("second", [(U, "The monitor is at 10.0.4.7."), (A, "ok"), (U, "a second monitor sits at 10.0.4.8")], {"10.0.4.7", "10.0.4.8"}),
    ("question", [(U, "Dinner is at 19:00."), (A, "ok"), (U, "would dinner at 20:00 be nicer?"), (A, "Perhaps."), (U, "no, leave it")], {"19:00"}),
    ("history", [(U, "Rent is 940 EUR."), (A, "ok"), (U, "rent used to be 800 EUR, years ago")], {"940 EUR"}),
    ("comparison", [(U, "Our churn is 4 %."), (A, "ok"), (U, "the churn of the industry is 7 %")], {"4 %", "7 %"}),
    ("min and max", [(U, "at least 3 replicas"), (A, "ok"), (U, "at most 9 replicas")], {"3 replicas", "9 replicas"}),
    ("range", [(U, "Keep the tank between 24 °C and 27 °C.")], {"24 °C", "27 °C"}),
    ("list", [(U, "Seeds: 7, 21, 99")], {"7", "21", "99"}),
    ("two owners", [(U, "Ana's desk is B-12."), (A, "ok"), (U, "Tom's desk is B-31.")], {"B-12", "B-31"}),
    ("two tables", [(U, "The timeout of orders is 30 s."), (A, "ok"), (U, "The timeout of payments is 45 s.")], {"30 s", "45 s"}),
    ("two doses", [(U, "Ibuprofen 400 mg in the morning."), (A, "ok"), (U, "Paracetamol 500 mg at night.")], {"400 mg", "500 mg"}),
    ("two units", [(U, "The cake bakes 40 min."), (A, "ok"), (U, "the cake weighs 900 g")], {"40 min", "900 g"}),
    ("keeps its own", [(U, "The party costs 2000 EUR."), (A, "ok"), (U, "make that 2500 EUR. the picnic keeps its 300 EUR")], {"2500 EUR", "300 EUR"}),
    ("another thing, changed", [(U, "The hall costs 700 EUR."), (U, "The band costs 900 EUR."), (A, "ok"), (U, "the band now wants 1100 EUR")],
     {"700 EUR", "1100 EUR"}),
    ("other field, next message", [(U, "The hike is 18 km."), (A, "ok"), (U, "the drive there takes 140 km")], {"18 km", "140 km"}),
    ("per item", [(U, "Set the gain of mic 1 to 30 dB."), (A, "ok"), (U, "Set the gain of mic 2 to 36 dB.")], {"30 dB", "36 dB"}),
    ("two trains", [(U, "I arrive at 14:05."), (A, "ok"), (U, "my sister arrives at 16:20")], {"14:05", "16:20"}),
    ("commit after commit", [(A, "Committed 4be91c2."), (U, "go on"), (A, "Committed 88d1f07.")], {"4be91c2", "88d1f07"}),
    ("log lines", [(T, "job a took 12 s"), (T, "job b took 15 s")], {"12 s", "15 s"}),
    ("ids of a list", [(T, '{"id":"px-10"}'), (T, '{"id":"px-11"}')], {"px-10", "px-11"}),
    ("a question of the assistant, refused", [(U, "The fee is 50 EUR."), (A, "Shall I raise it to 60 EUR?"), (U, "no")], {"50 EUR"}),
    ("zh: two things", [(U, "客厅空调 26 度。"), (A, "好"), (U, "卧室空调 24 度。")], {"26 度", "24 度"}),
    ("zh: also", [(U, "发给 a@mu.example。"), (A, "好"), (U, "另外也发给 b@mu.example。")], {"a@mu.example", "b@mu.example"}),
    ("ja: two things", [(U, "大人は 1500円 です。"), (A, "はい"), (U, "子どもは 800円 です。")], {"1500円", "800円"}),
    ("new is not of it", [(U, "The old tripod weighs 3 kg."), (A, "ok"), (U, "I bought a new lens of 2 kg")], {"3 kg", "2 kg"}),
    ("exception lifts a part", [(U, "Never water the cacti or the aloe."), (A, "ok"), (U, "you may water the aloe")],
     {"Never water the cacti or the aloe."}),
    ("rules of two things", [(U, "Never heat the milk above 80 °C."), (A, "ok"), (U, "Never heat the honey above 40 °C.")],
     {"Never heat the milk above 80 °C.", "Never heat the honey above 40 °C.", "80 °C", "40 °C"}),
]
# fmt: on


@pytest.mark.parametrize(("turns", "old", "new"), [case[1:] for case in REPLACED], ids=[case[0] for case in REPLACED])
def test_what_a_later_turn_replaces_holds_no_longer(turns: list[Turn], old: str, new: str) -> None:
    assert old in {one.fact.text for one in heard(turns)}
    assert old not in holding(turns)
    assert not new or new in holding(turns)


@pytest.mark.parametrize(("turns", "both"), [case[1:] for case in BOTH], ids=[case[0] for case in BOTH])
def test_look_alikes_both_hold(turns: list[Turn], both: set[str]) -> None:
    assert both <= {one.fact.text for one in heard(turns)}
    assert both <= holding(turns)
