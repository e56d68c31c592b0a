"""The file that ``ctxhost init`` writes."""

from __future__ import annotations

FOR_HOME = """\
# The configuration of ctxhost. Every key and its default: `ctxhost config schema`.
# What is in force and why: `ctxhost config show --origin`. Mistakes: `ctxhost config check`.

context:
  engine: compressor          # who compacts conversations; `ctxhost engines` lists the others
  # on_missing: fallback      # or error: do not start without the engine
  # on_error: fallback        # or error: end the turn when the engine fails

# Without a model `ctxhost replay` works too: summaries are then made from the text itself.
# model:
#   name: gpt-5.2
#   base_url: http://localhost:8000/v1    # any OpenAI-compatible service
#   api_key_env: OPENAI_API_KEY           # the variable that holds the key, never the key itself
#   context_length: 200000                # only where the model is not known
#   price: {input: 1.25, output: 10}      # dollars per million tokens, only where they are not known

compression:
  in_place: true              # keep one session over compactions
  # threshold: 0.50           # share of the window at which compaction starts
  # target_ratio: 0.20        # share of the threshold that stays word for word at the end
  # protect_last_n: 20        # messages at the end that stay where there is room
  # abort_on_summary_failure: false

# auxiliary:
#   compression:
#     model: gpt-5-mini                   # who writes summaries; its window should not be smaller than the model's
#     timeout: 300                        # seconds
"""

FOR_PROJECT = """\
# Settings of ctxhost for this folder, laid over those of your home folder.
# Numbers and the engine's name count at once; addresses, names of keys, plugins and
# ./plugins/context_engine wait for `ctxhost config trust`.

context:
  engine: compressor          # who compacts conversations; `ctxhost engines` lists the others

compression:
  in_place: true              # keep one session over compactions
  # threshold: 0.50           # share of the window at which compaction starts
  # target_ratio: 0.20        # share of the threshold that stays word for word at the end
  # protect_last_n: 20        # messages at the end that stay where there is room
"""
