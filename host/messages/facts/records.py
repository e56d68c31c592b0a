"""What tools report again: a status under its label, a field of a record with the same name."""

from __future__ import annotations

import re
from itertools import islice

from host.messages.facts.change_words import STATUS
from host.messages.facts.fact import FactKind
from host.messages.facts.holding import Bounded, Holding
from host.messages.facts.likeness import MEASURED
from host.messages.facts.said import Key, Said
from host.messages.facts.said_words import BIRTH

FIELD = re.compile(r"""["']?(?P<label>[A-Za-z_][\w-]{1,40})["']?\s?[:=]\s?["']?(?P<value>[\w.@/-]{2,80})""")
NAMES = re.compile(r"(?=.*\d)(?=.*[A-Za-z\u4e00-\u9fff])[\w\u4e00-\u9fff-]{3,40}")
THINGS = re.compile(
    r"(?i)(?:(?:service|job|app|pod|node|task)[_-]?)?name|service|job|app|deployment|pod|node|cluster|queue|task|container|workflow"
)
"""Labels of a field that names a thing which is looked at again and again, not a person or an order."""
STATES = re.compile(r"(?:^|[a-z_-])(?:revision|generation|commit|sha|digest|build|etag|head|release|version|image|current\w*|latest\w*)$")
"""Labels of names that change with the state of a thing; under others an id is one more."""
MOST_NAMES = 4
"""Fields of a record that can say which record it is."""


class Records:
    """The newest value of each label that tools report, by itself and per record."""

    def __init__(self) -> None:
        self._labels = Bounded[Key]()
        self._fields = Bounded[Key]()

    def reported_before(self, one: Said, holding: Holding) -> Key | None:
        """The value of an earlier row that a tool's value takes the place of, if there is one."""
        if one.label is None or one.kind is FactKind.path or BIRTH.search(one.label):
            return None
        of_its_record = self._field_before(one)
        of_its_label = self._label_before(one) if one.kind in MEASURED else None
        return next((key for key in (of_its_record, of_its_label) if key and _is_earlier(one, key, holding)), None)

    def _label_before(self, one: Said) -> Key | None:
        label = one.label or ""
        before, self._labels[label] = self._labels.get(label), one.key
        return before if one.form or STATUS.search(label) else None

    def _field_before(self, one: Said) -> Key | None:
        found = None
        for name in islice([*_names_in(one), *_things_in(one)], MOST_NAMES):
            place = f"{name}\0{one.label}"
            found = found or self._fields.get(place)
            self._fields[place] = one.key
        return found


def _names_in(one: Said) -> list[str]:
    """The names by which a record tells which one it is, its own value left out."""
    if "{" not in one.around:
        return []
    found = (match["value"] for match in FIELD.finditer(one.around))
    return [value for value in found if value != one.text and NAMES.fullmatch(value) and not value[0].isdigit()]


def _things_in(one: Said) -> list[str]:
    """What a record by itself names, whose state a value is of."""
    is_state = one.kind in MEASURED or one.kind is FactKind.address or STATES.search(one.label or "") is not None
    if not is_state or one.around.count("{") != 1:
        return []
    found = ((match["label"], match["value"]) for match in FIELD.finditer(one.around))
    return [value for label, value in found if value != one.text and label != one.label and THINGS.fullmatch(label)]


def _is_earlier(one: Said, key: Key, holding: Holding) -> bool:
    held = holding.get(key) if key != one.key else None
    return held is not None and held.newest.row < one.row and held.newest.form == one.form
