"""How the keys of ``expected`` are judged: a table of checks, comparisons for the rest, alternatives of which one is enough."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Mapping
from typing import Any

from tests.cases.facts import Facts, Miss, NoCheck, compared, contains, lacks, needed, ways

DOCUMENTATION = frozenset({"note", "notes", "formula", "comment", "why"})
"""Keys that explain the case to a reader."""

ALTERNATIVES = ("either", "or")

Check = Callable[[Any, Facts], Any]
"""Gives None where the facts are as wanted, else what was got instead; NoCheck where it cannot read what is wanted."""


def misses(expected: Mapping[str, Any], facts: Facts) -> list[Miss]:
    """What was not as expected. Of alternatives (``either``, ``or``) one is enough; NoCheck where one could not be judged."""
    plain = {key: value for key, value in expected.items() if key not in DOCUMENTATION and key not in ALTERNATIVES}
    if "either" in expected:
        return [*_all(plain, facts), *_one_of(_alternatives(expected), facts)]
    return _one_of([plain, *_alternatives(expected)], facts) if "or" in expected else _all(plain, facts)


def _alternatives(expected: Mapping[str, Any]) -> list[Any]:
    given = [expected[key] for key in ALTERNATIVES if key in expected]
    return [each for entry in given for each in (entry if isinstance(entry, list) else [entry])]


def _all(wanted: Mapping[str, Any], facts: Facts) -> list[Miss]:
    judged = [
        _judged(key, _meant(value, before), facts) for (key, value), before in zip(wanted.items(), [None, *wanted.values()], strict=False)
    ]
    return [miss for miss in judged if miss]


def _meant(value: Any, before: Any) -> Any:
    """What is expected; "same": what the key before it says."""
    return before if value == "same" else value


def _one_of(alternatives: list[Any], facts: Facts) -> list[Miss]:
    """Nothing where one alternative holds, else what the first lacked."""
    found: list[list[Miss]] = []
    unread: list[str] = []
    for alternative in alternatives:
        try:
            missed = misses(_said(alternative), facts)
        except NoCheck as unknown:
            unread.append(str(unknown))
            continue
        if not missed:
            return []
        found.append(missed)
    if unread:
        raise NoCheck("; ".join(unread))
    return found[0]


def _judged(key: str, wanted: Any, facts: Facts) -> Miss | None:
    check = CHECKS.get(key.rstrip(string.digits))
    left, equal, right = key.partition("==")
    try:
        if equal:
            got = needed(left, facts), needed(right, facts)
            return None if (got[0] == got[1]) is wanted else Miss(key, wanted, list(got))
        if check is None:
            return compared(key, wanted, facts)
        found = check(wanted, facts)
    except NoCheck:
        if not facts.get("raises"):
            raise
        return Miss(key, wanted, f"raised {facts['raises']}")
    return None if found is None else Miss(key, wanted, found)


SAYINGS: tuple[tuple[str, Callable[[re.Match[str]], dict[str, Any]]], ...] = (
    (r"engine (\S+) is used", lambda found: {"engine_used": found[1]}),
    (r"deferred until (?:the )?results? .*appended", lambda found: {"deferred": True}),
    (r"(?:one|a) visible warning per child", lambda found: {"warnings_per_child": 1}),
    (r"(?:an )?error text '([^']+)'", lambda found: {"says": found[1]}),
    (r"a result that says .*\bnot supported\b.*", lambda found: {"says": "not supported"}),
    (r"both new or both old", lambda found: {"all_or_nothing": True}),
    (r"list unchanged", lambda found: {"messages_unchanged": True}),
    (
        r"original list kept and the try counted as ineffective",
        lambda found: {"messages_unchanged": True, "counted_as_ineffective": True},
    ),
    (r"(?:a )?config error naming (\S+) and (\S+)", lambda found: {"config_error_contains": [found[1], found[2]]}),
    (r"(\d+[mh]) with a warning", lambda found: {"cache_ttl": found[1], "warned": True}),
    (r"(?:a )?new row exists with (?:its )?parent id", lambda found: {"child_has_parent": True}),
)
"""Expectations that are written as a sentence."""


def _said(alternative: Any) -> Mapping[str, Any]:
    if isinstance(alternative, dict):
        return alternative
    for pattern, meant in SAYINGS:
        if found := re.fullmatch(pattern, str(alternative), re.IGNORECASE):
            return meant(found)
    raise NoCheck(f"no check for {alternative!r}")


def raises(wanted: Any, facts: Facts) -> Any:
    """True and false, or what is in the name or the text of the error."""
    got = facts.get("raises", False)
    as_wanted = contains(str(got), wanted) if isinstance(wanted, str) else bool(got) is wanted
    return None if as_wanted else got


def removed_ids(wanted: Any, facts: Facts) -> Any:
    """No list that came out still holds one of these ids."""
    left = {way: [each for each in wanted if each in ids] for way, ids in ways(needed("ids", facts)).items()}
    return None if not any(left.values()) else {way: f"still there: {ids}" for way, ids in left.items() if ids}


def kept_ids(wanted: Any, facts: Facts) -> Any:
    """All these calls are there with their results, where nothing was summarised."""
    kept = needed("kept", facts)
    return None if set(wanted) <= set(kept) else kept


def engine_used(wanted: Any, facts: Facts) -> Any:
    """The engine's name, on every way in; or that every start takes the same one."""
    if found := re.match(r"deterministic\b.*?(\d+) starts", str(wanted)):
        starts = needed("starts", facts)
        return None if len(starts) >= int(found[1]) and len(set(starts)) == 1 else sorted(set(starts))
    if not re.fullmatch(r"\S+", str(wanted)):
        raise NoCheck(f"no check for engine_used: {wanted!r}")
    other = {way: name for way, name in ways(needed("engine_used", facts)).items() if name != wanted}
    return other or None


def child_engine(wanted: Any, facts: Facts) -> Any:
    """What every child agent gets."""
    if str(wanted) in ("same plugin (own instance)", "same plugin", "own instance"):
        wanted = "same plugin (own instance)"
    children = needed("children", facts)
    return None if children and all(child == wanted for child in children) else children


REASONS = re.compile(
    r"raised|no engine|no ContextEngine|abstract|lacks|not found|not allowed|could not|cannot|offers|the name of the engine|"
    r"no Python file|disabled|written for version|expected|there is no"
)
"""Words of which one is in every sentence that says why an engine is not used."""


def warning_names(wanted: Any, facts: Facts) -> Any:
    """One warning holds what is named: names as they are, or the configured name, with a reason where one is asked for."""
    if not isinstance(wanted, str) or re.fullmatch(r"\S+", wanted):
        return _warned(lambda line: contains(line, wanted), facts)
    if wanted not in ("the configured name", "the configured name and the reason"):
        raise NoCheck(f"no check for warning_names: {wanted!r}")
    needs_reason = wanted.endswith("the reason")
    shown = repr(needed("requested", facts))[1:-1]  # control characters are escaped in a warning
    return _warned(lambda line: shown in line and not (needs_reason and not REASONS.search(line.replace(shown, ""))), facts)


def warning_contains(wanted: Any, facts: Facts) -> Any:
    """One warning holds these words, or the place that they describe."""
    if wanted == "where it was looked for":
        places = needed("places", facts)
        return _warned(lambda line: all(place in line for place in places), facts)
    return _warned(lambda line: contains(line, wanted), facts)


def says(wanted: Any, facts: Facts) -> Any:
    """All these words are in the notices or the error."""
    return None if all(contains(needed("says", facts), word) for word in str(wanted).split()) else facts["says"]


RESULTS: tuple[tuple[str, Callable[[Facts], bool]], ...] = (
    (
        r"a list \(maybe empty\) or an error text .*no traceback, archive unchanged",
        lambda facts: bool(needed("archive_unchanged", facts)) and str(facts["raises"] or "UsageError").startswith("UsageError"),
    ),
    (r"an error is reported .*never 0 hits with no notice", lambda facts: all(ways(needed("never_silent", facts)).values())),
    (r"an error text the model can read", lambda facts: bool(needed("all_are_readable_errors", facts))),
)
"""Results that are written as a sentence."""


def result(wanted: Any, facts: Facts) -> Any:
    """What a sentence says of a search's answer."""
    for pattern, holds in RESULTS:
        if re.match(pattern, str(wanted), re.IGNORECASE):
            return None if holds(facts) else {key: facts[key] for key in ("raises", "hits", "says")}
    raise NoCheck(f"no check for result = {wanted!r}")


def at_most_documented(wanted: Any, facts: Facts) -> Any:
    """The most results that one answer had, against a number or the cap that the tool's schema names."""
    got, most = needed("max_results", facts), needed("documented_cap", facts) if wanted == "the documented cap" else wanted
    if not isinstance(most, int):
        raise NoCheck(f"no check for max_results<= = {wanted!r}")
    return None if got <= most else got


def searched(wanted: Any, facts: Facts) -> Any:
    """A search afterwards: its query was asked by the driver, the rest is expected of the answer."""
    missed = misses({key: value for key, value in wanted.items() if key != "query"}, needed("searched", facts))
    return {miss.key: miss.got for miss in missed} or None


def opened(wanted: Any, facts: Facts) -> Any:
    """A damaged file works again, or is refused by its name."""
    got = needed("opened", facts)
    if not re.match(r"repaired or (?:a|an) (?:clear )?error that names the file", str(wanted)):
        raise NoCheck(f"no check for open = {wanted!r}")
    return None if got in ("repaired", "refused by name") else got


def errors_matching(wanted: Any, facts: Facts) -> Any:
    """``text: N``: so many errors hold the text."""
    text, _, count = str(wanted).rpartition(":")
    if not count.strip().isdigit():
        raise NoCheck(f"no check for errors_matching = {wanted!r}")
    lines = [line for line in needed("error_lines", facts) if contains(line, text.strip())]
    return None if len(lines) == int(count) else lines


WAYS_OUT: tuple[tuple[str, str], ...] = (
    (r"(?:a )?retry", "retried"),
    (r"(?:a )?chunked summary", "chunked"),
    (r"shorter input", "shorter_input"),
    (r"main[- ]model (?:fallback|retry)", "main_model_answered"),
    (r"(?:a )?deterministic fallback that fits", "fallback_fits"),
    (r"(?:a )?deterministic fallback", "fell_back"),
    (r"abort with the list unchanged", "aborted_unchanged"),
    (r"(?:a )?clear terminal message", "terminal_message"),
)
"""What may become of a compaction, as sentences call it, and the fact that says it did."""

NO_WAYS: tuple[tuple[str, str], ...] = ((r"not silent loss", "silent_loss"), (r"not an endless loop", "endless_loop"))
"""What may not become of it."""


def allowed(wanted: Any, facts: Facts) -> Any:
    """``A, or B; not C``: on every way one of those that are allowed happened, and none of those that are not."""
    first, *forbidden = str(wanted).split(";")
    ways_out = [_named(part, WAYS_OUT) for part in re.split(r",?\s*\bor\b\s+|,\s*", first.strip().removeprefix("either ")) if part.strip()]
    bad = [_named(part, NO_WAYS) for part in forbidden]
    seen = {name: ways(needed(name, facts)) for name in (*ways_out, *bad)}
    runs = dict.fromkeys(way for each in seen.values() for way in each)
    missed = [way for way in runs if not any(seen[name].get(way) for name in ways_out) or any(seen[name].get(way) for name in bad)]
    return {way: {name: each.get(way) for name, each in seen.items()} for way in missed} or None


def _named(part: str, names: tuple[tuple[str, str], ...]) -> str:
    for pattern, name in names:
        if re.fullmatch(pattern, part.strip(), re.IGNORECASE):
            return name
    raise NoCheck(f"no check for {part.strip()!r}")


def somewhere(name: str) -> Check:
    """Checks that all these words are in a text, on every way."""

    def check(wanted: Any, facts: Facts) -> Any:
        return {way: text for way, text in ways(needed(name, facts)).items() if not contains(text, wanted)} or None

    return check


def at_most_allowed(wanted: Any, facts: Facts) -> Any:
    """The sizes of the summary after each round, against a number or the ceiling that the engine has."""
    most = ways(needed("max_summary_tokens", facts))
    if not isinstance(wanted, int) and not re.fullmatch(r"max_summary_tokens(?: each round)?", str(wanted)):
        raise NoCheck(f"no check for stored_summary_tokens<= = {wanted!r}")
    sizes = ways(needed("stored_summary_tokens", facts))
    limits = {way: wanted if isinstance(wanted, int) else most[way] for way in sizes}
    return {way: each for way, each in sizes.items() if not each or max(each) > limits[way] or not min(each)} or None


def labelled(wanted: Any, facts: Facts) -> Any:
    """How the summariser's input marks what tools returned."""
    if wanted != "tool output labelled as tool, not user":
        raise NoCheck(f"no check for summarizer_input_marks = {wanted!r}")
    seen = {way: marked for way, marked in ways(needed("tool_output_labelled", facts)).items() if marked is not None}
    return None if seen and all(seen.values()) else seen or "no model was asked"


def fallback_lacks(wanted: Any, facts: Facts) -> Any:
    """On every way a summary was made without a model, and it does not hold this."""
    return {way: text or "no fallback" for way, text in ways(needed("fallback", facts)).items() if not lacks(text, wanted)} or None


def _warned(fits: Callable[[str], bool], facts: Facts) -> Any:
    """None where on every way in one warning fits, else the warnings of the others."""
    missed = {way: lines for way, lines in ways(needed("warning_lines", facts)).items() if not any(map(fits, lines))}
    return missed or None


CHECKS: dict[str, Check] = {
    "raises": raises,
    "removed_ids": removed_ids,
    "kept_ids": kept_ids,
    "engine_used": engine_used,
    "child_engine": child_engine,
    "warning_names": warning_names,
    "warning_names_both": warning_names,
    "warning_contains": warning_contains,
    "says": says,
    "result": result,
    "max_results<=": at_most_documented,
    "search": searched,
    "open": opened,
    "errors_matching": errors_matching,
    "allowed": allowed,
    "after_attempts<=": allowed,
    "facts_still_in_list_or_fallback": somewhere("list_text"),
    "text_kept": somewhere("kept_text"),
    "stored_summary_tokens<=": at_most_allowed,
    "summarizer_input_marks": labelled,
    "fallback_not_contains": fallback_lacks,
}
"""Keys that no comparison can judge. All others are a fact's name and, behind it, how it is compared (``facts.COMPARISONS``)."""
