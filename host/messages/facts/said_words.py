"""The wording of a mention: what numbers it, bounds it, quotes it, and makes a statement of its subject."""

from __future__ import annotations

import re

ITEM = re.compile(r"([^\W\d_]{2,})[ #-]?(\d{1,6})(?![\w.,:%]|\s?[°µ])")
PERIOD = re.compile(
    r"\b(?:in|for|during|on)\s+((?:January|February|March|April|May|June|July|August|September|October|November|December)(?!\s\d)"
    r"|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?|weekdays|weekends|spring|summer|autumn|winter|20\d\d)\b"
)
"""The time that a value is for ("120 tickets in May")."""

BUT = re.compile(r"[`\"'”]?,?\s+but\s+(?!not\b|only\b|if\b|you\b|we\b|i\b|it\b|do\b|please\b|never\b)(?=\S*\d|[`\"'“])")
BIRTH = re.compile(r"(?i)\b(?:born|birth\w*|dob)\b|date[ _]of[ _]birth|出生|生日|生年月日|誕生")
REPORTED = re.compile(
    r"(?i)\b(?:logs?|readme(?:\.md)?|docs?|documentation|page|comment|file|manual|wiki|ticket|guide|tutorial|output|message|error|article"
    r"|post|e?mail|website)\s+(?:still\s+)?(?:says?|said|claims?|reads?|shows?|states?|mentions?|told)\b[^'\"“‘`]{0,12}['\"“‘`][^\"”]*$"
    r"|(?:日志|文档|网页|邮件|注释|ログ|文書|ページ)[^“\"「『]{0,8}[“\"「『][^”\"」』]*$"
)
"""What leads to words that are only quoted from somewhere."""

NUMBER = re.compile(r"\d[\d.,:]*")
SUBJECT = re.compile(
    r"(?i)\s*(?:(?:and|but|so|also|oh)\s+)*(?:the|our|my|his|her|their)\s+(\w+(?:\s\w+)?)\s+(?:is|are|was|were|gets?|has|runs?|takes?)\b"
)
AT_MOST = re.compile(r"(?i)\b(?:at most|no more than|up to|maximum(?: of)?|max|within)\s?$|(?:最多|不超过|不得超过|以内|上限)[是为]?\s?$")
AT_LEAST = re.compile(r"(?i)\b(?:at least|no less than|minimum(?: of)?|min)\s?$|(?:至少|最少|不少于|下限)[是为]?\s?$")
PERMITS = re.compile(r"(?i)\b(?:you|we|they|it)\s+(?:can|may)\b(?:\s+\w+){0,4}?\s*$|可以[^，。]{0,8}$")
"""What lets something go as far as the figure that stands behind it."""

OVER = re.compile(
    r"(?i)\b(?:above|over|beyond|exceed|(?:longer|more|older|higher|later|larger|bigger|hotter) than|after)\s?$|(?:超过|高于|多于|晚于)\s?$"
)
UNDER = re.compile(
    r"(?i)\b(?:below|under|(?:shorter|less|fewer|younger|newer|lower|earlier|smaller|colder) than|before)\s?$|(?:低于|少于|早于)\s?$"
)
LOOKED_BACK = 24
SAID_BEFORE = 40
"""Characters before a value in a record that can say what it is of."""
PREDICATE = re.compile(r"(?i)\s*(?:is|are|will|would|should|seems?|sounds?|works?|it is|then|instead|please)\b")
"""What follows a value that is all of the subject ("8 min is plenty")."""
OF_SOMETHING = re.compile(r"(?i)\s*of\s+(?!it\b|them\b|this\b|that\b|these\b|those\b|course\b)[a-z]")
"""What follows an amount whose clause says of what it is ("6 GB of swap")."""
MANY = 3
"""Numbers in a sentence from which a bare one is one of a list."""
