"""What services count, in one shape."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.messages.types import CACHED_COUNTS, COMPLETION_COUNTS, PROMPT_COUNTS, WRITTEN_COUNTS, Usage

OPENAI = {"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107}


@pytest.mark.parametrize(
    ("counted", "usage"),
    [
        ({**OPENAI, "prompt_tokens_details": {"cached_tokens": 60}}, Usage(100, 7, 60)),
        ({**OPENAI, "prompt_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 30}}, Usage(100, 7, 60, 30)),
        ({**OPENAI, "prompt_tokens_details": None}, Usage(100, 7)),
        ({**OPENAI, "prompt_tokens_details": {"cached_tokens": None}}, Usage(100, 7)),
        ({**OPENAI, "prompt_tokens_details": {"cached_tokens": 900}}, Usage(100, 7, 100)),
        ({**OPENAI, "cached_tokens": 60}, Usage(100, 7, 60)),
        ({**OPENAI, "prompt_cache_hit_tokens": 60, "prompt_cache_miss_tokens": 40}, Usage(100, 7, 60)),
        ({"input_tokens": 100, "output_tokens": 7, "input_tokens_details": {"cached_tokens": 60}}, Usage(100, 7, 60)),
        ({"input_tokens": 10, "output_tokens": 7, "cache_read_input_tokens": 60, "cache_creation_input_tokens": 30}, Usage(100, 7, 60, 30)),
        ({"input_tokens": 10, "cache_read_input_tokens": None, "cache_creation_input_tokens": 0}, Usage(10)),
        ({"prompt_tokens": 10, "cache_read_input_tokens": 60, "cache_creation_input_tokens": 30}, Usage(100, 0, 60, 30)),
        ({"prompt_tokens": 100, "cache_read_input_tokens": 60, "cache_creation_input_tokens": 30}, Usage(100, 0, 60, 30)),
        ({"inputTokens": 10, "outputTokens": 7, "cacheReadInputTokens": 60, "cacheWriteInputTokens": 30}, Usage(100, 7, 60, 30)),
        ({"promptTokenCount": 100, "candidatesTokenCount": 7, "cachedContentTokenCount": 60}, Usage(100, 7, 60)),
        ({"prompt_n": 40, "cache_n": 60, "predicted_n": 7}, Usage(100, 7, 60)),
        ({"prompt_eval_count": 100, "eval_count": 7}, Usage(100, 7)),
        ({"prompt_tokens": "100"}, None),
        ({"prompt_tokens": -3, "prompt_tokens_details": {"cached_tokens": 5}}, None),
        ({**OPENAI, "prompt_tokens_details": {"cached_tokens": "60"}}, Usage(100, 7)),
        ({**OPENAI, "prompt_tokens_details": {"cached_tokens": -60}}, Usage(100, 7)),
        ({**OPENAI, "prompt_tokens_details": [60]}, Usage(100, 7)),
    ],
)
def test_tokens_of_the_cache_are_part_of_the_prompt(counted: dict[str, Any], usage: Usage | None) -> None:
    assert Usage.from_provider(counted) == usage


def test_what_is_no_usage_is_none() -> None:
    junk: Any = ("many", 7, [], [1], {}, None, True)
    assert [Usage.from_provider(each) for each in junk] == [None] * len(junk)


KEYS = sorted({key for table in (PROMPT_COUNTS, CACHED_COUNTS, WRITTEN_COUNTS, (COMPLETION_COUNTS,)) for keys in table for key in keys})
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3)),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.sampled_from(KEYS), inner, max_size=3)),
)


@given(st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=8))
def test_no_usage_breaks_the_counting(counted: dict[str, Any]) -> None:
    usage = Usage.from_provider(counted)
    assert usage is None or (usage.prompt > 0 and usage.completion >= 0)
    assert usage is None or (usage.cached >= 0 and usage.written >= 0 and usage.cached + usage.written <= usage.prompt)
