"""What is the error report of a service, and what only tells of an error."""

from __future__ import annotations

import pytest

from host.compressor.error_reports import is_error_document, is_error_sentence


@pytest.mark.parametrize(
    "text",
    [
        "<html><body><h1>502 Bad Gateway</h1></body></html>",
        "<!DOCTYPE html>\n<title>cloud | 524: A timeout occurred</title>",
        '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>SlowDown</Code></Error>',
        '{"error": {"message": "upstream timed out", "code": 504}}',
        '{"error": "overloaded"}',
        '{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}, "request_id": "r"}',
        '{"detail": "Not Found"}',
        '{"message": "boom", "status": 500}',
        "{'error': {'message': 'boom'}}",
        'data: {"error": "boom"}',
    ],
)
def test_pages_and_objects(text: str) -> None:
    assert is_error_document(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"goal": "find the error", "error": "502"}',
        '{"message": "the parser is ported"}',
        "{}",
        "[]",
        "{not json",
        "<summary>error</summary>",
        "the page said <html>",
    ],
)
def test_other_texts_are_no_documents_of_that_kind(text: str) -> None:
    assert not is_error_document(text)


@pytest.mark.parametrize(
    "text",
    [
        "Error generating summary: 502 Bad Gateway",
        "Internal Server Error",
        "Rate limit exceeded, please try again later",
        "502 Bad Gateway",
        "HTTP/1.1 503 Service Unavailable",
        "HTTP 429 Too Many Requests",
        "Error code: 429 - you are too fast",
        "error code: 1015",
        "**Error:** request failed",
        "API Error: 500",
        "[ERROR: An unexpected error occurred while generating the response.]",
        "upstream connect error or disconnect/reset before headers",
        "The server had an error while processing your request. Sorry about that!",
        "The model is currently overloaded. Please try again later.",
        "You exceeded your current quota, please try again after topping up.",
        "Invalid API key provided",
        "Something went wrong.",
        "Connection error.",
        "服务器繁忙，请稍后再试",
        "サーバーエラーが発生しました",
    ],
)
def test_reports_in_words(text: str) -> None:
    assert is_error_sentence(text)


@pytest.mark.parametrize(
    "text",
    [
        "The user saw a 502 Bad Gateway and restarted nginx.",
        "Errors in the parser: three, all fixed.",
        "The rate limit was raised to 500 a minute.",
        "The deployment failed; the user will try again.",
        "Connections are refused by the old host since the move.",
        "用户让服务器重启，没有错误。",
        "Internal Server Error " + "was seen in the log and looked into. " * 10,
    ],
)
def test_telling_of_an_error_is_not_reporting_one(text: str) -> None:
    assert not is_error_sentence(text)
