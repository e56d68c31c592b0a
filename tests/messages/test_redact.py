"""What is masked, how, and what must not be."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.messages.redact import redact, table

MASKED: list[tuple[str, str]] = [
    # known prefixes
    ("token sk-abcdefghijklmnopqrstuvwx", "token sk-abc...uvwx"),
    ("OPENAI_API_KEY=sk-proj-AAAABBBBCCCCDDDDEEEEFFFF", "OPENAI_API_KEY=sk-pro...FFFF"),
    ("(ghp_AAAABBBBCCCCDDDDEEEEFFFFGGGGHHHHIIII)", "(ghp_AA...IIII)"),
    ("AKIAABCDEFGHIJKLMNOP", "AKIAAB...MNOP"),
    ('"line\\nsk-proj-AAAABBBBCCCCDDDDEEEEFFFF\\n"', '"line\\nsk-pro...FFFF\\n"'),
    ("sk-1234567890", "***"),
    # NAME=value
    ("OPENAI_API_KEY=abcdefghijklmnopqrstuvwxyz", "OPENAI_API_KEY=***"),
    ("export DB_PASSWORD='hunter2'", "export DB_PASSWORD='***'"),
    ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "AWS_SECRET_ACCESS_KEY=***"),
    ('{"text": "API_KEY=abcdefgh\\nNEXT=1"}', '{"text": "API_KEY=***\\nNEXT=1"}'),
    ("host=db user=bob password=swordfish dbname=x", "host=db user=bob password=*** dbname=x"),
    ("Server=db;User=sa;Password=Pa$$w0rd;Encrypt=true", "Server=db;User=sa;Password=***;Encrypt=true"),
    # configuration keys and YAML
    ("password: hunter2", "password: ***"),
    ("  password: swordfish", "  password: ***"),
    ("spring.datasource.password=swordfish", "spring.datasource.password=***"),
    ("api_key: abcd1234efgh5678  # main", "api_key: ***  # main"),
    ('password: str = "hunter2"', 'password: str = "***"'),
    ('os.environ["API_KEY"] = "abcd1234"', 'os.environ["API_KEY"] = "***"'),
    ("my password: hunter2, ok?", "my password: ***, ok?"),
    ("**Password:** hunter2", "**Password:** ***"),
    # JSON, escaped JSON, cut JSON
    ('{"apiKey": "abcdefghijklmnopqrstuvwx"}', '{"apiKey": "abcdef...uvwx"}'),
    ('{\\"apiKey\\": \\"abcdefghijklmnopqrstuvwx\\"}', '{\\"apiKey\\": \\"abcdef...uvwx\\"}'),
    ('{\\\\\\"password\\\\\\": \\\\\\"hunter2\\\\\\"}', '{\\\\\\"password\\\\\\": \\\\\\"***\\\\\\"}'),
    ('{"password": "hun\\"ter2", "n": 1}', '{"password": "***", "n": 1}'),
    ("{'token': 'a1b2c3d4e5f6'}", "{'token': '***'}"),
    ('{"client_secret": "abc', '{"client_secret": "***'),
    # headers
    ("Authorization: Bearer abcdefghijklmnopqrst", "Authorization: Bearer abcdef...qrst"),
    ("authorization: token 0123456789abcdef0123", "authorization: token 012345...0123"),
    ('{"Authorization": "Basic dXNlcjpwYXNz"}', '{"Authorization": "Basic ***"}'),
    ("Authorization: Strange 0123456789abcdef0123", "Authorization: Strange 012345...0123"),
    ("-H 'X-Api-Key: 0123abcd4567efgh8901'", "-H 'X-Api-Key: 0123ab...8901'"),
    ("private-token: abcdefg", "private-token: ***"),
    # the rest
    ("/bot123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw9/x", "/bot123456789:***/x"),
    ("postgres://bob:pw123@db/x", "postgres://bob:***@db/x"),
    ("redis://:p@ss@h:6379/0", "redis://:***@h:6379/0"),
    ("postgresql+psycopg2://u:hunter2@h", "postgresql+psycopg2://u:***@h"),
    ("https://abcdefgh12345@github.com/x", "https://***@github.com/x"),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.sig12345", "eyJhbG...2345"),
    ("user=bob&password=hunter2&x=1", "user=bob&password=***&x=1"),
    ("token=abc&x=1", "token=***&x=1"),
    ("call +14155552671.", "call +141****2671."),
    ("run --password hunter2 --fast", "run --password *** --fast"),
    ("-----BEGIN RSA PRIVATE KEY-----\nAA\n-----END RSA PRIVATE KEY-----", "[REDACTED PRIVATE KEY]"),
    ('"-----BEGIN PRIVATE KEY-----\\nMIIEvQIBADANBgkq\\n-----END PRIVATE KEY-----\\n"', '"[REDACTED PRIVATE KEY]\\n"'),
    ("x -----BEGIN EC PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\nBKcwggSjAgEA", "x [REDACTED PRIVATE KEY]"),
    ("\ud800 password: hunter2 \x00", "\ud800 password: *** \x00"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), MASKED)
def test_secrets_are_masked(text: str, expected: str) -> None:
    assert redact(text) == expected
    assert redact(expected) == expected


STAYS = [
    "nothing here", "",
    # names that only sound like it
    "MAX_TOKENS=100", "sk_bulk = 3", "CREDENTIAL_PATH=/etc/x", "per_layer_token_embd.weight=CPU", "max_tokens: 4096", "token_count=12",
    "TOKEN_LIMIT=128000", "AUTH_ENABLED=true", "USE_AUTH=true", "author: John Smith", "PWD=/home/me/project", "tokens: 12345",
    "sk-learn-contrib is a package", "fc-event-container fw-bold hf_hub_download", "pass=3 fail=2",
    # references and placeholders
    "KEY=os.getenv('X')", "API_KEY=os.getenv('API_KEY')", 'API_KEY = os.environ["API_KEY"]', "api_key = settings.api_key",
    "Authorization: Bearer ${SOME_KEY}", "${{ secrets.DEPLOY_TOKEN }}", 'auth = f"Authorization: Bearer {key}"', "export TOKEN=${TOKEN}",
    "export TOKEN=$TOKEN", "API_KEY=<API_KEY>", "API_KEY=your-api-key-here", "postgres://u:${PASSWORD}@h/x",
    # code
    "token = get_token()", "password: str", "password: str | None = None", "  password: SecretStr",
    "connect(user=user, password=password, token=token)",
    "def login(user: str, password: str, token: Optional[str] = None):", 'if password == "hunter2":', '{"password": {"type": "string"}}',
    '{"required": ["password", "token"]}', 'ACCESS_TOKEN = "access_token"', "  token: TokenType;",
    "  litellmApiKey: isLiteLLM ? env.API_KEY : undefined,", "'authorization': 'Bearer REDACTED_TOKEN'",
    # prose and counts
    "token: 5", "Token usage: 12000 in, 300 out", "the token: it is expired", "password: required",
    "Password: must be at least 8 characters",
    '{"token": "Hello"}', '"password": "Enter your password"', "secret: see vault", "the api key: see below",
    # exact values
    "3f786850e387550fdab836ed7e6dc881de23001b", "550e8400-e29b-41d4-a716-446655440000", "2024-01-01T00:00:00+00:00", "1714567890123",
    "14155552671", "+1234567", "1e+10000000", "1.2.3+20240101120000", "/usr/lib/python3/token.py:12: error",
    "x-request-id: 8f14e45fceea167a",
    "ssh://git@github.com/x.git", "https://user@host/p", "https://user:pass@host/p?token=abc", "https://h/p?a=1&token=abc#access_token=abc",
    "https://token:abc123def@host/x", "eyJhbGciOiJIUzI1NiJ9", "data:image/png;base64,iVBORw0KGgoAAAANSUhEUg",
]  # fmt: skip


@pytest.mark.parametrize("text", STAYS)
def test_exact_values_code_and_prose_stay(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://user:pass@host/p?token=abc", "https://user:***@host/p?token=***"),
        ("https://h/p?page=2&X-Amz-Signature=0af3&key=k1", "https://h/p?page=2&X-Amz-Signature=***&key=***"),
        ("https://user:${PASS}@host/?token=<token>", "https://user:${PASS}@host/?token=<token>"),
    ],
)
def test_credentials_in_urls_are_masked_on_request(text: str, expected: str) -> None:
    assert redact(text) == text
    assert redact(text, url_credentials=True) == expected == redact(expected, url_credentials=True)


def test_switched_off_it_does_nothing_unless_forced() -> None:
    assert redact("password: hunter2", enabled=False) == "password: hunter2"
    assert redact("password: hunter2", enabled=False, force=True) == "password: ***"


PIECES = [text for text, _ in MASKED] + [
    *"\"'`\\=:;,&@/.-_+ \n{}<>#?*", "password", "token", "SECRET", "api_key", "Bearer ", "Authorization", "sk-", "eyJ", "://", "...", "***",
    "a1b2c3d4", "x" * 20, "abcdef...wxyz", "\ud800", "é",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=8).map("".join), st.booleans())
def test_redacting_twice_changes_nothing(text: str, url_credentials: bool) -> None:
    once = redact(text, url_credentials=url_credentials)
    assert redact(once, url_credentials=url_credentials) == once


@given(
    st.sampled_from(["ghp_", "hf_", "npm_", "gsk_"]),
    st.text("abXYZ0129", min_size=20, max_size=40),
    st.sampled_from(["", " ", "(", '"', "\\n", "="]),
)
def test_no_key_with_a_known_prefix_passes(prefix: str, body: str, before: str) -> None:
    assert body not in redact(f"{before}{prefix}{body}")


def test_every_row_masks_something_of_the_examples() -> None:
    texts = [*(text for text, _ in MASKED), "https://user:pass@host/p?token=abc", "access_key: abcd1234efgh", "privateKey: abcd1234efgh",
             "credential=a1b2c3d4", "passphrase: hunter2", "Bearer a1b2c3d4e5f6g7h8i9", "_auth=dXNlcjpwYXNz",
             "MYSQL_PWD=hunter2", "DB_PASS=hunter2"]  # fmt: skip
    idle = [row.kind for row in table() if all(row.pattern.sub(row.replace, text) == text for text in texts)]
    assert idle == []


@pytest.mark.parametrize("piece", ["a", "=", "-", "_", ":", '"', "token", "-----BEGIN PRIVATE KEY-----", "eyJ", "sk-", "a=b&", "://a:"])
def test_five_megabytes_of_anything_take_seconds(piece: str) -> None:
    text = piece * (5_000_000 // len(piece))
    start = time.perf_counter()
    redact(text, url_credentials=True)
    assert time.perf_counter() - start < 4  # alone 0.1 to 1 s; quadratic would be minutes
