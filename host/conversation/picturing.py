"""A window whose pictures a model refused as too large goes on with smaller ones; the archive keeps them as they came."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from operator import is_

from host.conversation.restoring import TOLD
from host.conversation.retrying import GiveUp, Retry
from host.conversation.shelf import Shelf
from host.conversation.view import View
from host.errors import StoreError
from host.messages.canonical import identity
from host.messages.ledger import Entry, Kind, Ledger
from host.messages.reading import is_image
from host.messages.types import Message, Part
from host.provider.images import shrink_images
from host.provider.refusals.limits import ImageTooLarge
from host.store.values import IMAGES, Publication

PICTURE: Part = {"type": "image"}


def with_smaller_images(view: View, limits: ImageTooLarge, shelf: Shelf) -> tuple[View, Retry | GiveUp]:
    """The view with its pictures within the limits that a refusal names, published so that it stays so.

    The view is the one given where all pictures are within the limits already, and where one is left that would be refused again.
    """
    shrunk = shrink_images(view.ledger.messages(), max_side=limits.max_side, max_bytes=limits.max_bytes)
    if not shrunk.changed or shrunk.left_over:
        return view, GiveUp(f"no image could be made small enough: {'; '.join(shrunk.left_over) or 'all are within the limits'}")
    return with_pictures(view, shrunk.messages, shelf), Retry(
        f"{shrunk.changed} images were made smaller; the archive keeps them as they came"
    )


def with_pictures(view: View, messages: Sequence[Message], shelf: Shelf) -> View:
    """The view with these messages, whose pictures are others or gone, published; the same view where nothing changed."""
    entries = [_smaller(entry, message) for entry, message in zip(view.ledger, messages, strict=True)]
    if all(map(is_, entries, view.ledger)):
        return view
    return _published(replace(view, ledger=Ledger(entries)), shelf)


def is_same_but_for_images(shown: Message, archived: Message) -> bool:
    """Whether a message is the archived one, with other pictures in the places of its own at most."""
    return identity(_without_pixels(shown)) == identity(_without_pixels(archived))


def _without_pixels(message: Message) -> Message:
    content: object = message.get("content")
    if not isinstance(content, list):
        return message
    return {**message, "content": [PICTURE if isinstance(part, dict) and is_image(part) else part for part in content]}


def _smaller(entry: Entry, message: Message) -> Entry:
    """The entry with this message: still of its row, no longer as archived."""
    if message is entry.message:
        return entry
    return replace(entry, message=message, kind=Kind.DIGEST if entry.kind in TOLD else entry.kind)


def _published(view: View, shelf: Shelf) -> View:
    """The next version of the view; the same, in this process alone, while it cannot be kept."""
    waiting = any(entry.row is None and entry.kind in TOLD for entry in view.ledger)
    if shelf.views is None or waiting:
        return view
    rows = [entry.row for entry in view.ledger if entry.kind is Kind.DIGEST]
    publication = Publication(view.ledger, view.rows, shelf.state.engine, IMAGES, {"digests": rows})
    with suppress(StoreError):  # the pictures as they came are shown again after a restart, and refused again
        return replace(view, version=shelf.views.publish(publication, expected=view.version).version)
    return view
