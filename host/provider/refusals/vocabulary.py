"""The words that refusals are made of, in several languages: a refusal that nobody has worded so before is known by what it joins."""

from __future__ import annotations


def all_of(*vocabularies: str) -> str:
    """A pattern for a line that holds a word of each vocabulary, in whatever order; read with ``re.MULTILINE``, in linear time."""
    return "^" + "".join(rf"(?=[^\n]*{words})" for words in vocabularies)


def _any(*words: str) -> str:
    return f"(?:{'|'.join(words)})"


TOO_LONG = _any(
    r"shorten|(?<!took )too (?:long|lengthy|large|big|many)\b|(?:longer|larger|bigger) than",
    "过长|超长|太长|過長|太多",
    "長すぎ|多すぎ|길어|깁니다|초과",
    r"zu (?:lang|groß|umfangreich)|trop (?:long|grand|volumineu)",
    r"demasiado (?:larg|grand|extens)|troppo (?:lung|grand)|muito (?:long|grande)",
    "слишком (?:длин|больш)",
)
"""Too much of it, without a measure beside it."""

OVER = _any(
    TOO_LONG,
    r"exceed|beyond (?!our)|past the|grown past|surpass|overflow|(?:greater|more) than(?! (?:zero|one|two|\d{1,2})\b)|above the|over the"
    r"|no longer fits?\b",
    r"(?:not|n't|never) (?:fit|handle|be handled)",
    r"at (?:the )?most(?! \d{1,2}\b)|at maximum|no (?:more|longer|greater|larger) than(?! \d{1,2}\b)"
    r"|must be (?:less|under|below|smaller|within)",
    r"only (?:reads?|takes?|accepts?|holds?|handles?|supports? [\d,_]+|[\d,_]+ tokens)|less than or equal|cannot be handled|limited to",
    "超过|超出|超過|上限|不能大于|过大|太大|最多|最大",
    "超え|大きすぎ|収まりません|まで",
    "überschreit|übersteig|höchstens|maximal|passt nicht|größer als|mehr als",
    r"dépass|au maximum|au plus|excède|supera|excede|como máximo|no cabe|ultrapassa|no máximo|al massimo|превыша|не более",
)
"""One thing is over another, or may not be."""

CEILING = _any(
    r"at (?:the )?most|no (?:more|longer|greater|larger) than|less than or equal to"
    r"|\b(?:limit|maximum|max|window|memory|context|n_ctx|max_input_len(?:gth)?|max_position_embeddings)\b(?: is| of)?",
    r"up to",
    r"can only (?:produce|generate|return|write)|only (?:reads?|takes?|accepts?|holds?|handles?|supports?)",
    "上限|不能(?:超过|大于)|最多|最大|窗口|최대|límite|limite|上下文长度",
    "höchstens|maximal|fenster von|au maximum|au plus|como máximo|máximo de|no máximo|ventana de contexto(?: del modelo)?"
    r"|fenêtre de contexte",
)
"""What stands before the measure that may not be passed."""

CEILED = _any(OVER, CEILING)
"""Either."""

TOKENS = r"(?:(?<![a-z_])tokens?(?![a-z_])|jetons?\b|トークン|词元|토큰|токен)"
COUNT = r"\d{3}"
"""A number as large as a length."""

READ = _any(
    r"(?<![a-z_])(?:prompt|input|context|sequence|messages?|conversation|chat|question|transcript|dialogue?)(?![a-z_])",
    "输入|上下文|对话|会话|提示词|消息|輸入|對話",
    "入力|プロンプト|コンテキスト|会話|履歴|입력|프롬프트|대화",
    "eingabe|kontext|unterhaltung|gespräch|nachrichten|verlauf",
    r"entrada|contexto|conversaci[oó]n|conversa\b|mensajes?|mensage[mn]s?|l'entrée|contexte|conversazione|contesto|ввод|запрос"
    r"|контекст|диалог",
)
"""What a model reads."""

ASKED = _any(READ, r"(?<![a-z_])(?:request|question)(?![a-z_])|请求|リクエスト|anfrage|requête|solicitud|petición|richiesta")
"""The same, or the request as a whole."""

WINDOW = _any(
    r"context[ _](?:window|length|size|limit)|max_position_embeddings|max_input_len|\bn_ctx\b|model'?s (?:window|memory|context)",
    "上下文(?:窗口|长度|限制)|コンテキスト(?:ウィンドウ|長)|컨텍스트",
    r"kontext(?:fenster|länge)|ventana de contexto|fenêtre (?:de )?context\w*|janela de contexto|finestra di contesto|окн\w+ контекста",
)
WRITTEN = _any(
    r"max_(?:completion_|output_|new_)?tokens|maxOutputTokens",
    r"(?:output|completion|generated) (?:tokens?|length)|length of the (?:answer|completion)",
    "输出(?:长度|token)|出力トークン|ausgabetoken|tokens de (?:salida|sortie)|jetons de sortie",
)
"""What a model writes."""

PACE = _any(r"per.min(?:ute)?\b|\bTPM\b|a minute\b", "每分钟|毎分|1分あたり|분당", r"pro minute|par minute|por minuto|al minuto|в минуту")
ONE = _any(
    r"\b(?:this|a|one|single|your) (?:one |single )?request\b[^\n\d]{0,24}\d{3}",
    r"单[次个]请求[^\n\d]{0,12}\d{3}|1回のリクエスト[^\n\d]{0,12}\d{3}|diese anfrage[^\n\d]{0,24}\d{3}",
)
"""One request, and how much it is."""

IMAGE = _any(r"\b(?:images?|pictures?|photos?)\b", r"图片|图像|圖片|画像|이미지|\bbild\w*\b|imagen\b|immagine\b|imagem\b|изображени")
FINE = _any(r"(?:resolution|dimensions?)[^\n]{0,20}too high|downscale", OVER)
BODY = _any(r"(?:request )?(?:body|payload|entity)\b", "请求体|リクエストボディ|anfragekörper|corps de la requête|cuerpo de la solicitud")
CALL = _any(r"(?:tool|function)[ _]?(?:calls?|use)", "工具调用|ツール呼び出し|werkzeugaufruf")
RESULT = _any(r"(?:tool|function)[ _]?(?:messages?|results?|responses?|outputs?)", "tool 消息|工具结果|ツール結果|werkzeugergebnis")
ORDER = _any(
    r"follow|preced|\bbefore\b|without|missing|matching|unanswered|correspond|no [\w ]{0,20}found", "前必须|后必须|之前|之后|缺少|对应"
)
ASIDE = _any(
    r"\b(?:safety|moderation|policy|guidelines?|flagged|unknown model|description|metadata|too many tools|tool name)\b",
    r"\b(?:top_p|top_k|top_logprobs|logprobs|temperature|logit_bias|stop sequences?|cache_control|breakpoints?)\b",
    "安全|违规|敏感|描述",
)
"""What stands in judgements of the contents and in objections to other fields."""

ELSEWHERE = _any(
    ASIDE,
    r"payload|entity|\b(?:tools?|function|schema|stop|user|name|id|batch|embedding|file|url|header)\b",
    r"\b(?:images?|pixels?|bytes|[kmg]i?b)\b|(?:string|array) too long|图片|画像|文件|ファイル|工具|\bbild\b",
)
"""What may be too long as well, and is no matter of the window."""
