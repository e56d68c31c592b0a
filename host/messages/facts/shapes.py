"""What single tokens are: tables of shapes and words that tell a path from a fraction and an id from a word."""

from __future__ import annotations

import re
from functools import lru_cache

from host.messages.facts.fact import FactKind

CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

# fmt: off
EXTENSIONS_WORDS = (
    "astro bak bash bat bin c cc cert cfg cjs clj cmd conf config cpp crt cs css csv dart db deb diff dockerfile dump ejs env erl "
    "ex exs fish gif go gradle graphql groovy gz h hbs hcl hpp hs htm html ico ics ini ipynb jar java jks jpeg jpg js json json5 "
    "jsonl jsx key kt kts less lock log lua m4 mak md mdx mjs mk ml mov mp3 mp4 ndjson nix orig parquet patch pdf pem php pid pkl "
    "pl plist png pp prisma proto ps1 psql py pyc pyi pyx r rb rs rst rules sass scala scss service sh so sock socket sql sqlite "
    "sqlite3 srt storyboard sum svelte svg swift tar tex tf tfvars tgz timer tmpl toml tpl ts tsv tsx txt vim vue wasm wav webp "
    "whl woff woff2 xcconfig xhtml xls xlsx xml xsd yaml yml zig zip zsh zst docx pptx doc odt ods odp ppt rtf tex bib epub mobi "
    "avi mkv wmv mpg flac aac ogg m4a wma aiff mid midi heic tiff tif bmp raw cr2 nef dng psd ai eps sketch fig xd blend stl step dwg dxf "
    "obj fbx gltf glb gcode ttf otf exe dll msi apk aab ipa rpm dmg iso img vmdk qcow2 elf hex uf2 lib dylib bz2 7z rar lz4 "
    "npy npz h5 hdf5 pt pth ckpt safetensors onnx gguf joblib rds rdata sav dta mat nc avro feather arrow tfrecord "
    "fasta fastq fa fq bam sam vcf bed gff pdb cif sdf gpx kml kmz geojson shp eml ics vcf pcap har trace prof dat bak swp pdfx"
)
EXTENSIONS = frozenset(EXTENSIONS_WORDS.split())
DOMAINS_WORDS = (
    "ai app arpa at au br ca ch cloud cn com corp de dev edu es eu example fr gov home in int internal invalid io it jp kr lan "
    "local localdomain localhost me net nl org pl ru se sh svc test tw uk us xyz"
)
DOMAINS = frozenset(DOMAINS_WORDS.split())
NO_PATH_WORDS = (
    "and/or either/or he/she his/her her/his him/her yes/no on/off true/false read/write in/out input/output client/server up/down "
    "start/stop tcp/ip n/a w/o a/b ci/cd i/o km/h am/pm open/closed add/remove before/after pass/fail old/new left/right key/value "
    "request/response req/s mb/s kb/s gb/s ok/fail"
)
NO_PATH = frozenset(NO_PATH_WORDS.split())
MEDIA = ("application/", "text/", "image/", "audio/", "video/", "multipart/", "font/")
NO_ID = re.compile(
    r"(?i)(?:llama|claude|gemini|html|css|web|utf|iso|sha|md|aes|rsa|ed|base|int|uint|float|x|p|gpt|covid|mp|http|ipv|oauth|python|py|es|cp|win|bit|latin)[-_]?\d{1,4}"
    r"(?:[-_](?:bit|\d{1,2}|[a-z]))?"
    r"|(?:top|web|log|part|step|day|phase|option|level|line|col|width|height|rows?|loops|size|count|in|on|at|is|first|last|non|pre|post|"
    r"one|two|three|multi|double|mid|max|min)[-_]?\d{1,3}|\d{1,3}-(?:bit|way|day|byte|col|based|minute|hour|second|week|year|line|fold|"
        r"digit|ms|node|page|\d{1,3})|(?-i:[a-z]-?\d{1,2}|S3|H[1-6]|L[1-7]|EC2|MP[34]|ES[5-9]|PS[2-5]|HTML5|CSS3|UTF8|CO2)"
    r"|#(?:define|include|if|ifdef|ifndef|else|elif|endif|pragma|undef|region|import)"
)
FAILED = re.compile(r"ERR(?:OR)?_|_ERR(?:OR)?|FAIL|EXCEPTION|DENIED|REFUSED|TIMEOUT$|TIMED_OUT|INVALID|NOT_FOUND|TOO_|UNAVAILABLE|"
    r"^E[A-Z]+$|EXCEEDED|MISSING|FORBIDDEN|CONFLICT|MISMATCH|EXPIRED|UNKNOWN_|MAINTENANCE")

DIGITS = "0123456789"
SHAPES: tuple[tuple[FactKind, str, str, re.Pattern[str]], ...] = tuple(
    (kind, first, needs, re.compile(shape)) for kind, first, needs, shape in (
    (FactKind.url, "", ":", r"[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s]+|mailto:\S+"),
    (FactKind.email, "", "@", r"[\w.+%-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}"),
    (FactKind.address, DIGITS, ".", r"\d{1,3}(?:\.\d{1,3}){3}(?:/\d{1,2})?(?::\d{1,5})?"),
    (FactKind.address, "", ":", r"localhost:\d{2,5}|[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){4,7}(?:/\d{1,3})?"),
    (FactKind.date, DIGITS, "-", r"\d{4}-\d\d-\d\d(?:[T_]\d\d:?\d\d(?::?\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?|\d{4}-W\d\d|"
        r"[0-2]?\d:[0-5]\d-[0-2]?\d:[0-5]\d"),
    (FactKind.date, DIGITS, ":", r"[0-2]?\d:[0-5]\d(?::[0-5]\d(?:\.\d+)?)?(?:Z|am|pm)?"),
    (FactKind.date, DIGITS, "/", r"\d{4}/\d{1,2}/\d{1,2}"),
    (FactKind.date, DIGITS, ".", r"\d{1,2}\.\d{1,2}\.\d{4}"),
    (FactKind.id, "", "-", r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"),
    (FactKind.hash, "abcdef" + DIGITS, "", r"(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,128}|[0-9a-f]{40}|[0-9a-f]{64}|"
        r"[0-9a-f]{7,40}\.\.\.?[0-9a-f]{7,40}"),
    (FactKind.hash, "sm", "", r"(?:sha\d{1,3}|md5)[:-][0-9a-f]{7,128}|sha(?:256|384|512)-[A-Za-z0-9+/=]{20,}"),
    (FactKind.version, DIGITS + "v^~", "", r"[v^~]?\d+(?:\.\d+){2,}(?:[-+.]?(?:[a-z]++[.-]?\d*+|\d++))*+|"
        r"v\d+(?:\.\d+)*(?:[-+.][a-z0-9.]+)?|"
        r"\d+\.\d+(?:\.\d+)*-?(?:a|b|rc|beta|alpha|dev|post|SNAPSHOT)[.-]?\d*|[~^]\d+(?:\.\d+)*|\d+(?:\.\d+)*\.x"),
    (FactKind.version, CAPITALS.lower(), "-", r"[a-z][a-z0-9+_-]*-v?\d+(?:\.\d+)+(?:[-.][a-z0-9]+)*"),
    (FactKind.env, CAPITALS + "$", "_", r"\$?\{?[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\}?"),
    (FactKind.env, "$", "", r"\$\{?[A-Z][A-Z0-9]*\}?"),
    (FactKind.date, DIGITS, "h", r"[0-2]?\dh[0-5]\d"),
    (FactKind.quantity, DIGITS, "", r"(?:\d+d)?(?:\d+h)?\d+m(?:\d+(?:\.\d+)?s)?|\d+d\d+h|\d+h\d+m?"),
    (FactKind.quantity, DIGITS, "x", r"\d+(?:\.\d+)?(?:x\d+(?:\.\d+)?)+"),
    (FactKind.quantity, DIGITS, "d", r"\d{1,2}d\d{1,3}(?:[+-]\d+)?"),
    (FactKind.id, "0", "x", r"0x[0-9A-Fa-f]{1,32}"),
    (FactKind.id, "#", "", r"#\d{1,7}|#[0-9a-fA-F]{6}"),
    (FactKind.id, "@", "/", r"@[a-z][\w-]+/[\w.-]+"),
    (FactKind.id, CAPITALS + CAPITALS.lower(), "-", r"(?=[^0-9]*[0-9])[A-Za-z][A-Za-z0-9]{0,20}(?:[-_][A-Za-z0-9]+)+"),
    (FactKind.id, CAPITALS + CAPITALS.lower(), "_", r"(?=[^0-9]*[0-9])[A-Za-z][A-Za-z0-9]{0,20}(?:[-_][A-Za-z0-9]+)+"),
    (FactKind.id, CAPITALS, "", r"[A-Z]{1,6}\d{2,10}[A-Z]?"),
    (FactKind.id, CAPITALS + DIGITS, "", r"\d{1,3}[B-F]|(?=[A-Z]*\d)(?=\d*[A-Z])[A-Z0-9]{6,8}"),
    (FactKind.id, DIGITS, "-", r"\d[0-9A-Za-z]{0,12}(?:-[0-9A-Za-z]+)+"),
    (FactKind.id, CAPITALS + DIGITS, "", r"(?=[A-Z0-9]*[A-Z])(?=[A-Z0-9]*\d[A-Z0-9]*\d)[A-Z0-9]{5,32}"),
))
"""Shapes of whole tokens in the order in which they are tried: what they begin with and hold (empty: anything), then the shape."""

PACKAGE = re.compile(r"@?[A-Za-z][\w./-]*(?:==|@|~=|>=|\^)v?(\d[\w.+-]*)")
PLACE_IN_FILE = re.compile(r"(?::\d+)++$")
IMAGE = re.compile(r"(?:[a-z0-9.-]+(?::\d+)?/)*[a-z0-9._-]+:v?\d[\w.-]*")
HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9-]+)+")
HOST_PORT = re.compile(r"([A-Za-z0-9][A-Za-z0-9.-]*):(\d{2,5})")
FRACTION = re.compile(r"[\d.,]+/[\d.,x]+[a-z]?|[A-Z]{1,5}/[A-Z0-9.]{1,5}|\d+/[a-z]+|HTTP/\d.*", re.ASCII)
SEGMENTS = re.compile(r"(?:~|\.{1,2}|[A-Za-z]:)?/?[\w.@%+*{}$:#~=\[\],-]++(?:/[\w.@%+*{}$#~=\[\],:-]*+)*+")
NAME = re.compile(r"[a-z][a-z0-9]*(?:[_.][a-z0-9]+)+|[a-z]+(?:-[a-z0-9]+)+|[a-z]+(?:[A-Z][a-z0-9]+)+")
DASHED = re.compile(r"[a-z]+(?:-[a-z]+)+")
HANDLE = re.compile(r"@[A-Za-z]\w{2,38}|#[a-zA-Z][\w-]+")
CELL = re.compile(r"[A-Z]{1,4}\d|[a-z]{2,12}\d{1,4}|[a-z]{1,8}\d{1,4}[a-z]{1,4}\d{1,4}")
PAIR = re.compile(r"[A-Z][A-Za-z]+/[A-Z][A-Za-z]+")
"""Two names with a slash, as people write both: no path."""
# fmt: on


def kind_of(token: str) -> FactKind | None:
    """The kind of a whole token that is sure without the words around it; None for words, fractions and plain names."""
    for kind, needs, shape in _shapes_from(token[0]):
        if needs in token and shape.fullmatch(token):
            return _checked(kind, token)
    if is_host(token):
        return FactKind.address
    return FactKind.path if is_path(token) else None


@lru_cache(maxsize=256)
def _shapes_from(initial: str) -> tuple[tuple[FactKind, str, re.Pattern[str]], ...]:
    return tuple((kind, needs, shape) for kind, first, needs, shape in SHAPES if not first or initial in first)


def _checked(kind: FactKind, token: str) -> FactKind | None:
    if kind is FactKind.env and FAILED.search(token):
        return FactKind.error
    if kind is FactKind.id and NO_ID.fullmatch(token):
        return None
    return kind


def is_host(token: str) -> bool:
    """Whether a token is a host by its last part, with or without a port."""
    if "." not in token:
        return False
    with_port = HOST_PORT.fullmatch(token)
    host = with_port[1] if with_port else token
    ending = host.rpartition(".")[2].lower()
    if ending in EXTENSIONS and ending not in DOMAINS:
        return False
    return (ending in DOMAINS and HOST.fullmatch(host) is not None) or bool(with_port and not host[0].isdigit())


def is_path(token: str) -> bool:
    """Whether a token is a path or a file name: no fraction, no media type, none of the pairs that people write with a slash."""
    if "/" not in token:
        return _has_extension(token)
    if token.lower() in NO_PATH or token.startswith(MEDIA) or token.strip("/.~") == "" or FRACTION.fullmatch(token):
        return False
    if PAIR.fullmatch(token):
        return False
    return SEGMENTS.fullmatch(token) is not None and any(len(part) > 1 for part in token.split("/"))


def _has_extension(token: str) -> bool:
    if "." not in token:
        return False
    stem, _, ending = PLACE_IN_FILE.sub("", token).rpartition(".")
    return ending.lower() in EXTENSIONS and (stem == "" or stem[-1].isalnum()) and not stem.isdigit()
