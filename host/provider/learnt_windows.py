"""Windows that services stated when they refused a request, remembered for the next conversation with the same model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from host.config.writing import write_whole
from host.errors import UsageError
from host.provider.errors import CREDENTIALS

FILE = "learnt-windows.json"  # in the home folder
MOST = 200  # models; those learnt longest ago are forgotten
LARGEST_FILE = 1_000_000  # bytes; whatever is larger is no file of ours
PRIVATE = 0o600  # its mode: which models are used is nobody else's to read


def learnt_window(home: Path, model: str, base_url: str = "") -> int | None:
    """The window in tokens that the service stated for this model at this address; None where it never did."""
    return _read(home / FILE).get(_key(model, base_url)) if model else None


def learn_window(home: Path, model: str, base_url: str, window: int) -> None:
    """Remember a window. Processes may do so at once; where the file cannot be written nothing is remembered, which costs a refusal."""
    key = _key(model, base_url)
    with suppress(OSError, UsageError), _alone(home):
        others = [(known, size) for known, size in _read(home / FILE).items() if known != key]
        kept = dict([*others, (key, window)][-MOST:])
        write_whole(home / FILE, json.dumps(kept, indent=1, ensure_ascii=True), mode=PRIVATE)


def _key(model: str, base_url: str) -> str:
    """Model and address in one line, the address without password and query."""
    return f"{model} {CREDENTIALS.sub('', base_url).rstrip('/')}".rstrip()


def _read(path: Path) -> dict[str, int]:
    """What is remembered; nothing where the file is missing, or no file of ours."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            return {}
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    entries = found.items() if isinstance(found, dict) else ()
    return {key: window for key, window in entries if type(window) is int and window > 0}


@contextmanager
def _alone(home: Path) -> Iterator[None]:
    """Other processes wait until the block is left; on a system without such locks the last one wins."""
    home.mkdir(parents=True, exist_ok=True)
    with (home / f".{FILE}.lock").open("a") as lock:
        with suppress(ImportError):
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
