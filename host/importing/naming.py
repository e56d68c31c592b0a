"""Under which ids the conversations of recordings are kept."""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import blake2b
from itertools import count

from host.formats.feeds import FEEDS
from host.formats.feeds.events import MAIN
from host.importing.places import OPENAI, RecordedFile
from host.messages.types import JSON
from host.store.values import DIRECTORY

UNFIT = re.compile(r"[^A-Za-z0-9._-]+")
SHORTEST, LONGEST = 4, 85  # characters of a name: room is left for what tells it from another


def names_of(chain: str, about: JSON, file: RecordedFile) -> Iterator[str]:
    """The ids that the conversation of a chain may get, the best first; the others where that one is another conversation's."""
    name = fit(str(about.get("name") or name_of(chain, about, file)))
    yield name
    if directory := about.get(DIRECTORY):
        yield f"{name}-{_digest(str(directory))}"
    yield f"{name}-{_digest(file.name, chain)}"
    yield from (f"{name}-{_digest(file.name, chain, str(number))}" for number in count(2))


def name_of(chain: str, about: JSON, file: RecordedFile) -> str:
    """The id that the conversation of a chain should get: the client's own, a side chain's that of its agent."""
    if chain != MAIN or about.get("side_chain_of"):
        return f"agent-{about.get('agent') or chain or file.path.stem}"
    return str(about.get("session") or file.path.stem)


def fit(name: str) -> str:
    """A name of letters, digits and a few signs, not too short and not too long."""
    cleaned = UNFIT.sub("-", name).strip("-._")[:LONGEST]
    return cleaned if len(cleaned) >= SHORTEST else f"recording-{cleaned}".rstrip("-")


def family(client: str) -> str:
    """Whose a recording is: message files are of one kind, whatever their container."""
    return client if client in FEEDS else OPENAI


def _digest(*texts: str) -> str:
    return blake2b("\0".join(texts).encode("utf-8", "surrogatepass"), digest_size=3).hexdigest()
