"""Facts of many fields and languages, written down before the code read them: every value named is found, and nothing else."""

from __future__ import annotations

import pytest

from host.messages.facts import constraints_in, values_in

# fmt: off
VALUES: list[tuple[str, tuple[str, ...]]] = [
    # kitchen
    ("Bake it at 220 °C for 35 min, then rest 2 hours.", ("220 °C", "35 min", "2 hours")),
    ("the dough wants 500 g flour and 65% water", ("500 g", "65%")),
    ("oven at 180, fan off", ("180",)),
    ("Two trays, 24 cookies each, 14g of sugar apiece.", ("24 cookies", "14g")),
    ("mix vinegar and oil 1:3", ("1:3",)),
    ("a 9 x 13 inch pan", ("9 x 13 inch",)),
    ("serves 6 people, not 8", ("6 people", "8")),
    # law and finance
    ("Clause 14.2 and Section 7 apply, see case C-311/18.", ("14.2", "7", "C-311/18")),
    ("the notice period is 3 months, rent 1,450 EUR", ("3 months", "1,450 EUR")),
    ("invoice RE-2024-0097 over 2.380,00 € is open", ("RE-2024-0097", "2.380,00 €")),
    ("wire it to DE89 3704 0044 0532 0130 00 please", ("DE89 3704 0044 0532 0130 00",)),
    ("at 3.75% for 15 years, $412k in total", ("3.75%", "15 years", "$412k")),
    ("the strike is 42.5 and we hold 300 shares", ("42.5", "300 shares")),
    ("EUR/USD at 1.0832 now", ("1.0832",)),
    ("put 40 % in bonds, the rest goes to ISIN IE00B4L5Y983", ("40 %", "IE00B4L5Y983")),
    # chemistry and medicine
    ("add 20 µl of the 2.1 mg/ml stock, dilute 1:500", ("20 µl", "2.1 mg/ml", "1:500")),
    ("pH 7.4, 150 mM NaCl, keep at -80 °C", ("7.4", "150 mM", "-80 °C")),
    ("the band sits at 55 kDa, spin 12000 x g for 10 min", ("55 kDa", "12000 x g", "10 min")),
    ("gradient gel 4-20 %", ("4-20 %",)),
    ("take 5 mg twice a day, blood pressure 128/82", ("5 mg", "128/82")),
    ("lot B7731, catalogue no. 34580", ("B7731", "34580")),
    # sport and music
    ("ran 10.5 km in 52:30 at 148 bpm", ("10.5 km", "52:30", "148 bpm")),
    ("intervals: 8 x 400 m, rest 90 s", ("8 x 400 m", "90 s")),
    ("tune to 442, tempo 96, bars 33-48", ("442", "96", "33-48")),
    ("transpose it for Bb clarinet, capo on fret 3, BWV 1007", ("3", "BWV 1007")),
    ("final score 3:2, seat row F seat 12", ("3:2", "row F", "12")),
    # hardware and photography
    ("shoot at f/2.8, 1/250 s, ISO 400", ("f/2.8", "1/250 s", "ISO 400")),
    ("the chip is an ESP32-S3 on 3.3 V with 4.7 kΩ pull-ups", ("ESP32-S3", "3.3 V", "4.7 kΩ")),
    ("sensor at 0x76, register 0xF4", ("0x76", "0xF4")),
    ("M4 screws, torque 1.2 Nm, 40 pcs", ("M4", "1.2 Nm", "40 pcs")),
    ("baud 57600, then 9600", ("57600", "9600")),
    ("board rev C, firmware 2.0.1-rc2, batch 16", ("rev C", "2.0.1-rc2", "16")),
    ("print it with 0.2 mm layers and 15 % infill at 210°C", ("0.2 mm", "15 %", "210°C")),
    ("thermostat from 19.5 to 21 degrees", ("19.5", "21 degrees")),
    ("build it with -O2 and -Wall please", ("-O2", "-Wall")),
    ("the monitor runs 2560x1440 at 165 Hz", ("2560x1440", "165 Hz")),
    ("err -110 again, errno 5", ("-110", "5")),
    # travel
    ("flight LH 441, gate B42, seat 23A, 07:55", ("LH 441", "B42", "23A", "07:55")),
    ("booking code X7QK9P, terminal 2", ("X7QK9P", "2")),
    ("train at quarter past, 9:15 am, from platform 7", ("9:15 am", "7")),
    ("three nights from 3 to 6 August, 2 adults", ("3", "6 August", "2 adults")),
    ("the cottage is at 52.5200, 13.4050", ("52.5200", "13.4050")),
    ("call +49 30 901820 for the keys", ("+49 30 901820",)),
    ("bring the visa by 15/09/2026, 12th of May is too late", ("15/09/2026", "12th of May")),
    ("hotel is 89 a night, breakfast 14", ("89", "14")),
    # games and home
    ("level 42, 1500 gold, sword +3", ("42", "1500 gold", "3")),
    ("roll 2d6+4, DC 15", ("2d6+4", "DC 15")),
    ("plan B is table 9 then", ("plan B", "9")),
    ("take menu C, option 2", ("menu C", "2")),
    ("make that 12", ("12",)),
    ("no, 25.", ("25",)),
    ("6 will do", ("6",)),
    ("oh well. 18:30", ("18:30",)),
    ("guests: 95 now, they said 90", ("95", "90")),
    # computing
    ("lr 3e-4, 40 epochs, seeds 7 and 99", ("3e-4", "40 epochs", "7", "99")),
    ("wifi is heron-attic, the guests use heron-guest", ("heron-attic", "heron-guest")),
    ("box is worker-07, vlan 30", ("worker-07", "vlan 30")),
    ("the branch is feat/dark-mode, deploy to prod-eu-west", ("feat/dark-mode", "prod-eu-west")),
    ("use eu-central-1, not us-east-1", ("eu-central-1", "us-east-1")),
    ("call retryOnTimeout before onClose", ("retryOnTimeout", "onClose")),
    ("it died with ThrottlingException, then SlowDown", ("ThrottlingException", "SlowDown")),
    ("set max_pool to 30 and idle to 8", ("max_pool", "30", "8")),
    ("chmod 640, uid 1001", ("640", "1001")),
    ("debian 12.5, kernel 6.1", ("12.5", "6.1")),
    ("pull ghcr.io/kite/api:2.4 first", ("ghcr.io/kite/api:2.4",)),
    ("answer in 200 words at most, 3 bullets", ("200 words", "3 bullets")),
    ("between 5 and 7 retries", ("5", "7 retries")),
    ("keep >= 3 replicas, cpu < 80%", ("3 replicas", "80%")),
    ("#define WDT_S 8", ("WDT_S", "8")),
    ("warmup: 500\ndropout: 0.1", ("500", "0.1")),
    ('{"voucher":"Q-0301","debit":"14000.00"}', ("Q-0301", "14000.00")),
    ('{"cat":"34580"}', ("34580",)),
    ("make: *** [fw.elf] Error 1", ("fw.elf", "Error 1")),
    ("E: NACK from the bus", ("NACK",)),
    ("loss=0.4132 acc=0.912", ("0.4132", "0.912")),
    ("ERROR 1064 (42000) near line 3", ("1064", "42000", "3")),
    ("upstream sent 502, retried after 1500ms", ("502", "1500ms")),
    ("sha is 9f2c41d, tag v3.1", ("9f2c41d", "v3.1")),
    ("write it to C:\\data\\out.csv", ("C:\\data\\out.csv",)),
    ("the title is \"Autumn sale\", in #0a84ff", ("Autumn sale", "#0a84ff")),
    ("email ops@heron.example, slack #ops-night, handle @mira_k", ("ops@heron.example", "#ops-night", "@mira_k")),
    ("mac 3c:22:fb:9a:10:0e gets 192.168.7.20", ("3c:22:fb:9a:10:0e", "192.168.7.20")),
    # Chinese
    ("房租每月 12800 元，押金两个月，面积 86 平米。", ("12800 元", "86 平米")),
    ("一共 95 人，坐 12 桌", ("95 人", "12 桌")),
    ("凭证号从 记-0301 开始", ("记-0301",)),
    ("补助提到 200，差旅每天180元", ("200", "180元")),
    ("折旧 5 年，电脑 3 年", ("5 年", "3 年")),
    ("周五下午3点半，在 3号楼 201 室", ("下午3点半", "3号楼", "201")),
    ("体温 38.5℃，布洛芬 200 毫克", ("38.5℃", "200 毫克")),
    ("标题写“秋季促销”", ("秋季促销",)),
    ("学号 20231107，第 4 排", ("20231107", "4")),
    ("从 v2 升到 v3，端口 9000", ("v2", "v3", "9000")),
    # Japanese
    ("しきい値は 60℃、間隔は 0.25 秒 ごとに。", ("60℃", "0.25 秒")),
    ("参加者は 30名、会費は 4,500円 です。", ("30名", "4,500円")),
    ("速度は 9600 で。", ("9600",)),
    ("12月4日 の 14時30分 に、会議室 B3 で", ("12月4日", "14時30分", "B3")),
    ("最適化は -Os にしてください。", ("-Os",)),
    ("卵を 3個、砂糖 40 グラム", ("3個", "40 グラム")),
    ("注文番号は A-20418 です", ("A-20418",)),
    # German, French, Spanish, Portuguese
    ("Treffen am 3. Mai um 14 Uhr, 12 Personen, Raum 204", ("3. Mai", "14 Uhr", "12 Personen", "204")),
    ("Die Miete beträgt 1.250,00 Euro, Frist 14 Tage", ("1.250,00 Euro", "14 Tage")),
    ("rendez-vous le 5 juin à 18h30, 40 personnes", ("5 juin", "18h30", "40 personnes")),
    ("le colis pèse 2,5 kg et coûte 12,90 €", ("2,5 kg", "12,90 €")),
    ("la reunión es el 7 de marzo, 25 asistentes, sala 3", ("7 de marzo", "25 asistentes", "3")),
    ("o prazo é de 10 dias, orçamento 3000 reais", ("10 dias", "3000 reais")),
    # of all kinds
    ("Put the kettle on at 6:45, the alarm is 0615.", ("6:45", "0615")),
    ("Our shipment MSKU4821770 leaves Rotterdam on the 14th.", ("MSKU4821770", "14th")),
    ("two-man tent, 3.2 kg, waterproof to 4000 mm", ("3.2 kg", "4000 mm")),
    ("set the humidifier to 55 % rh, fan speed 3", ("55 %", "3")),
    ("thread count 600, pillow 40x80", ("600", "40x80")),
    ("yeah go with the 24-70, f4 is fine", ("24-70",)),
    ("reserve 14 seats under Okafor, order no 55-1029", ("14 seats", "55-1029")),
    ("interest drops to 2.9 p.a. from January 2027", ("2.9", "January 2027")),
    ("the plot is 1.2 ha, asking price 185k", ("1.2 ha", "185k")),
    ("bump gain by 6 dB and cut below 80 Hz", ("6 dB", "80 Hz")),
    ("we need 2 more chairs, so 18.", ("18",)),
    ("my plate is KA-LM 2203, parking bay 17", ("KA-LM 2203", "17")),
    ("HbA1c was 6.8, dose goes to 850 mg bid", ("6.8", "850 mg")),
    ("meet at gate C at half past, bus 42 from stop 7", ("gate C", "42", "7")),
    ("channel 5 on UHF, squelch 30", ("5", "30")),
    ("scale everything by 1.5, rotate -90", ("1.5", "-90")),
    ("the DNS TTL should be 300, serial 2026051401", ("300", "2026051401")),
    ("deadline moved to Fri 9 Oct, 17h", ("9 Oct", "17h")),
    ("max_tokens=4096 temperature=0.2 top_p=0.95", ("4096", "0.2", "0.95")),
    ("File \"main.py\", line 88, in run\nKeyError: 'user_id'", ("main.py", "88", "KeyError", "user_id")),
    ("[12:04:31] WARN pool exhausted (size=20, waiting=7)", ("12:04:31", "20")),
    ("| staging | 10.4.0.12 | 2 vCPU | 4 GiB |", ("10.4.0.12", "4 GiB")),
    ("deploy failed with exit code 137 (OOMKilled)", ("exit code 137", "OOMKilled")),
    ("Charset must be utf8mb4, engine InnoDB", ("utf8mb4", "InnoDB")),
    ("col C, rows 4:18 in Budget_v3.xlsx", ("4:18", "Budget_v3.xlsx")),
    ("sample rate 48k, 24 bit, buffer 256", ("48k", "24 bit", "256")),
    ("会议改到 14:30，会议室 A302，共 18 人。", ("14:30", "A302", "18 人")),
    ("快递单号 SF1392847561，电话 13800138000", ("SF1392847561", "13800138000")),
    ("每斤 12.5 元，买 3 斤", ("12.5 元", "3 斤")),
    ("第 7 章改成 2500 字", ("7", "2500 字")),
    ("血压 135/88，心率 72", ("135/88", "72")),
    ("列車は のぞみ 231号、座席は 7号車 12番 A席です。", ("231号", "7号", "12番")),
    ("塩は 小さじ 2、オーブンは 200度で 25分。", ("2", "200度", "25分")),
    ("部屋は 504号室、暗証番号は 8813 です", ("504号室", "8813")),
    ("le train part à 6h52 voie 14, place 61", ("6h52", "14", "61")),
    ("La factura 2024/118 vence el 30 de junio", ("2024/118", "30 de junio")),
    ("pressure 32 psi front, 35 rear", ("32 psi", "35")),
    ("I want it on A3 paper, 120 gsm", ("A3", "120 gsm")),
    ("the reference is \"Harvest Moon\" in Eb, 72 bpm", ("72 bpm",)),
    ("turn 3 left after km 18.4", ("18.4",)),
    ("contact: Dr. Ito, ext. 4417", ("4417",)),
    ("use key ring 0x1F3A and mode RW", ("0x1F3A",)),
    ("the wire gauge is AWG 22, fuse 10A", ("AWG 22", "10A")),
    ("k8s upgrade to 1.29 on the aks-prod cluster, node pool d4s, 6 nodes", ("1.29", "aks-prod", "6 nodes")),
    ("retry 5x with backoff 200ms, jitter 0.3", ("200ms", "0.3")),
    ("the customer id is cus_9fKq2, plan pro-yearly", ("cus_9fKq2",)),
    ("set fontSize to 14 and lineHeight 1.4", ("fontSize", "14", "lineHeight", "1.4")),
    ("redis 6379 is fine but postgres moved to 5433", ("6379", "5433")),
    ("we have 12 tables of 8, dinner at 7pm sharp", ("12 tables", "8", "7pm")),
    ("my budget's 900, hotel max 120 per night", ("900", "120 per night")),
    ("grandma's recipe: 3 cups flour, 1 tsp salt, bake 40 minutes at 375", ("3 cups", "1 tsp", "40 minutes", "375")),
    ("loan #88213, escrow 4,310.22, closing on Mar 3", ("#88213", "4,310.22", "Mar 3")),
    ("push to origin/hotfix-7 and tag rel-2024.09", ("origin/hotfix-7", "rel-2024.09")),
    ("no wait, 8 not 6", ("8", "6")),
    ("and Tuesday's at half nine, room Elm, dial 0421#", ("0421",)),
    ("error TS2345 in App.tsx(41,7)", ("TS2345", "App.tsx")),
    ("jury: 4 yes, 2 no, 1 abstained", ("4", "2", "1")),
    ("status=504 upstream=10.2.3.4:8080 dur=30.01s trace=7f3ab29c", ("504", "10.2.3.4:8080", "30.01s", "7f3ab29c")),
    ("total 3 files, 1.2M", ("1.2M",)),
    ("2026-02-11 09:14:03,221 INFO worker-3 took 812 ms for job 5512", ("2026-02-11", "09:14:03", "worker-3", "812 ms", "5512")),
    ("{\"temp\": 21.5, \"unit\": \"C\", \"station\": \"KSFO\"}", ("21.5",)),
    ("rate limit: 60 rpm, burst 10", ("60 rpm", "10")),
    ("开会时间从 9 点改到 10 点半，地点 B 座 1203", ("9 点", "10 点半", "1203")),
    ("阈值 0.85，窗口 30 天，模型 bge-m3", ("0.85", "30 天", "bge-m3")),
    ("バージョン 3.2 に上げて、タイムアウトは 90 秒、再試行は 2 回", ("3.2", "90 秒", "2 回")),
    ("Termin am 12.11. um 10:15, Zimmer 3.04", ("12.11", "10:15", "3.04")),
    ("le code est 4471B et le digicode 90210", ("4471B", "90210")),
    ("rent is 1,250/month, deposit two months", ("1,250/month",)),
    ("dose 0.5 mL q8h x 7 days", ("0.5 mL", "7 days")),
    ("resize to 1080p, 30fps, crf 23", ("1080p", "30fps", "23")),
    ("the seed is correct-horse-battery, pin 4821", ("correct-horse-battery", "4821")),
]

NONE = [
    "3 of 5 tests fail, no idea why", "2 out of 3 agree", "One of the two is enough.", "1. first this\n2. then that",
    "figure 2 looks odd", "see step 3 above", "reviewer 2 is back", "I did it 100 times already", "tests: 9 passed, 9 total",
    "it is 2x faster", "the 90s were fun", "24/7 support", "a 50/50 chance", "2 things before I forget:",
    "He said \"no way\" and left.", "that was so \"smart\" of them", "LOL OK", "the UI and the API", "well-known co-founder, follow-up",
    "I/O or TCP/IP", "up-to-date, state-of-the-art", "a so-called re-run", "wait... what?", "Done!! :-)", "JavaScript and GitHub",
    "YouTube, iPhone, macOS, LaTeX", "6 left, 0 failed", "we are 1 step closer", "top 10 list", "v. nice", "50-50", "Thx :3",
    '{"ok":true}', '{"exit_code":0,"bytes":18}', "第一，先看看；第二，再说。", "一些人三天打鱼", "二つ目の案がいいです",
    "1つだけ質問があります",
    "Vielen Dank, bis morgen!", "merci beaucoup, c'est parfait", "vale, muchas gracias", "e.g., i.e., etc.", "Q1: why? A1: because",
    "chapter one was great", "3 of us went", "as of version unknown", "it took forever (again)", "part 1 of the story is boring",
    "first, second, third", "he is in his 40s", "one in a million", "Mr. X and Dr. No", "a 5-minute walk", "okay :-)",
    "three quarters of it", "I am 100% sure", "second-hand, self-made, one-off", "I'd say one or two", "see you at lunch",
    "first of all, thanks", "it's a no-brainer", "we've done this 3 times", "three-part series", "part 2 is better", "I think we're good",
]

RULES = [
    "必ずバックアップを取る。",
    "本番では必ずレビューを通す。",
    "Never touch the production database" + ", nor any copy of it" * 40 + ".",
    # English, as people type it
    "dont touch the sourdough before i am back.", "pls never park in front of the gate", "guests only get read access",
    "metric units always, the Americans can convert", "no peanuts in anything, he is allergic",
    "Tank must stay upright the whole trip", "hands off the blue folder", "take only the ones from that batch",
    "The deposit mustn't go above 500 euro.", "Nothing goes to the press without my ok.", "keep the tempo below 120.",
    "every invoice gets two signatures before it is paid", "Never quote her by name.", "stay under the speed limit",
    "cant be later than 9 pm",
    "You are not allowed to sell any of it.", "Drawings in pencil only.", "Please don't ever share the address.",
    "all measurements have to be in millimetres", "answers should never be longer than ten lines", "it needs to be gluten free",
    "make sure the door is locked at night", "Under no circumstances call the landlord.", "i want you to always show the source",
    "Do not, ever, mix the two.", "we never ship on fridays", "leave the old strings on the guitar",
    # Chinese
    "备用钥匙别给别人。", "合同里的数字一个都不许改。", "客人名单不能外传。", "以后每次都先给我看一遍再发。", "任何人都不得进入仓库。",
    "糖要少放，盐一点都不要放。",
    "药必须饭后吃。", "所有照片统一用横版。", "没有我的同意不许下单。",
    # Japanese
    "鍵は私だけが持つようにしてください。", "生ものは入れないこと。", "名前は必ずふりがなを付けてください。",
    "夜十時以降は電話しないでください。", "写真の無断転載は禁止です。",
    "砂糖は使わないでね。", "提出前に必ず私に見せてください。",
    # German, French, Spanish, Portuguese
    "Du darfst die Heizung nie ganz ausschalten.", "Bitte niemals ohne Rückfrage buchen.", "Die Tür muss immer zu bleiben.",
    "Auf keinen Fall anrufen.",
    "Ne jamais envoyer le devis sans mon accord.", "Il ne faut pas toucher aux fichiers.", "Tu dois toujours répondre en français.",
    "Nunca borres las copias.", "No debes usar mi nombre.", "Siempre responde en español.",
    "Nunca envie nada sem a minha aprovação.", "É proibido alterar a tabela.",
    "Whatever you do, stay off the grass.", "Never on Sundays.", "Refunds only with a receipt.", "The name of the donor must not appear.",
    "i dont want ads in it", "plain text only pls", "No one but Ayumi opens the vault.", "Don't book anything before I confirm.",
    "The soup has to be vegan.", "nothing over 40 euro", "keep it under two pages", "all prices in yen, please", "always cc my lawyer",
    "You shall not quote the minutes.", "never, ever email her", "only the blue ones", "not before 9", "Please refrain from calling.",
    "use pencils, never pens", "You are to ask me first.", "leave my name out", "it should never exceed 30 minutes",
    "prices must include tax", "don't let anyone else edit it", "别用塑料袋。", "一定要戴手套。", "不准带宠物。", "照片不要发群里。",
    "只用我给的配方。", "会议期间请勿录音。", "每次更新前必须通知我。", "预算不能超过五千。", "犬を入れないでください。",
    "必ず二人で作業してください。", "会場では飲食禁止です。", "この番号は誰にも教えないこと。", "返品は三日以内にしてください。",
    "私の許可なく変更しないでください。", "Bitte nichts ohne mich bestellen.", "Du musst immer zuerst fragen.",
    "Kein Fleisch, ich bin Vegetarierin.", "N'appelle jamais ma mère.", "Vous ne devez pas ouvrir ce dossier.",
    "No compartas mi teléfono con nadie.", "Debes usar siempre guantes.", "Não use o meu nome.", "Please only use vegetarian gelatine.",
    "The report must be in Dutch.", "Don't quote prices to anyone.", "No phone calls after 8.", "Ask me before deleting anything.",
    "never use the word synergy", "i need you to never auto-post", "do not exceed 40 kg per box", "always round down",
    "keep Anna out of this", "only I sign the contracts", "Nothing may be published before Friday.",
    "no changes to the schema without telling me", "use tabs, not spaces", "Stick to the budget.", "everything stays in euros",
    "you may never share it", "It is essential that nobody knows.", "Leave the tests alone.", "never merge on red",
    "the api key must not end up in git", "answer in max 3 sentences", "don't use emojis", "avoid the motorway", "不要加香菜。",
    "务必在周五前交。", "千万别告诉她。", "图片必须是原创的。", "仅限内部使用。", "禁止带电操作。", "データは社外に出さないでください。",
    "必ず手袋をしてください。", "これ以上費用をかけないこと。", "写真は使用禁止。", "Bitte keine Anrufe nach 20 Uhr.",
    "Niemals das Original ändern.", "Ne partage jamais ce lien.", "No uses mi correo.",
]

NO_RULES = [
    "彼は必ず約束を守る。",
    "必ずミスをする。",
    "The README reads as follows: Never commit to main.",
    "The README reads as follows:\n\nNever commit to main.\nAlways run make lint.",
    "He told me that I should never restart the worker.",
    "I don't have the ID with me right now, but I'm looking to cancel the flights with only one passenger.",
    "Never touch the production database" + ", nor any copy of it" * 60 + ".",
    "i must have walked 20 km", "my boss always wants it yesterday", "do you always sound like this?", "the only one left was broken",
    "it never rains here", "I only wanted to say thanks", "lets rather go 12, it is only the small one", "you must be joking",
    "the fragment is only 55 kDa", "she said \"never again\"", "we never got an answer", "he has to be at work by nine",
    "> Never open this door.", "always a pleasure", "that should never have worked", "I don't know yet", "i dont think so",
    "no worries, no hurry", "No clue what it wants", "nobody told me", "don't worry about it", "that must be why",
    "No sugar left, I checked.", "we had no luck with it", "she never answers my mails", "Only yesterday it was fine.",
    "唉，房东总是必须涨一点才开心。", "我从不吃辣的，你呢？", "他说不要紧。", "别提了，太累了。", "别的都好。", "必须承认很好吃。",
    "特别好吃", "区别不大",
    "昨日は必ず三回目で固まって、泣きそうでした。", "絶対に雨が降ると思います。", "必ずしもそうではありません。", "しかたないですね。",
    "さっきの話は忘れて 12 にしてください。",
    "Das war nie ein Problem.", "Ich habe immer Hunger.", "C'est toujours pareil.", "Nunca he estado allí.", "Não sei ainda.",
    "never mind", "I never liked tea", "that was the only bus", "he always forgets", "must have been the rain", "I can only guess",
    "not before time!", "don't you love it?", "no kidding", "no, that's fine", "I don't have any", "they only laughed",
    "she must hate me", "only joking", "it always rains on Sundays", "we must be close", "I'd never have guessed", "you never know",
    "the shop is closed only today I think", "nobody likes mondays", "keep up the good work", "wait, what?", "that can't be true",
    "all good", "nothing to add", "it has to be said, nice job", "不要紧", "别客气", "必须给你点赞！", "总是这样", "大家都说好",
    "絶対楽しいと思う", "いつもありがとう", "必ず来ると言っていました", "Das darf doch nicht wahr sein!", "On ne sait jamais.",
    "No pasa nada.", "Nunca se sabe.", "he never calls", "I must admit I was wrong", "only three of us came", "we always have fun",
    "Do I have to sign?", "must be nice", "I never said that", "no idea", "that's not to say it's bad", "it must have been late",
    "the dog only eats fish", "don't know", "you can't be serious", "I can't find it", "cannot reproduce",
    "it doesn't have to be perfect", "必须的！", "別に必要ありません", "絶対無理です", "Muss das sein?", "Je ne sais pas.", "No sé.",
]
# fmt: on


def overlap(first: tuple[int, int], second: tuple[int, int]) -> int:
    return max(0, min(first[1], second[1]) - max(first[0], second[0]))


@pytest.mark.parametrize(("text", "values"), VALUES, ids=[text for text, _ in VALUES])
def test_every_value_is_found_and_nothing_else(text: str, values: tuple[str, ...]) -> None:
    meant = {value: (text.find(value), text.find(value) + len(value)) for value in values}
    found = [(fact.start, fact.end) for fact in values_in(text)]
    missed = [value for value, span in meant.items() if not any(2 * overlap(span, one) >= len(value) for one in found)]
    extra = [text[slice(*one)] for one in found if not any(overlap(one, span) for span in meant.values())]
    assert (missed, extra) == ([], [])


@pytest.mark.parametrize("text", NONE)
def test_passing_counts_and_plain_words_are_no_values(text: str) -> None:
    assert [fact.text for fact in values_in(text)] == []


@pytest.mark.parametrize("sentence", RULES)
def test_what_binds_is_a_rule(sentence: str) -> None:
    assert [fact.text for fact in constraints_in(sentence)] == [sentence]


@pytest.mark.parametrize("text", NO_RULES)
def test_what_binds_nothing_is_no_rule(text: str) -> None:
    assert constraints_in(text) == []
