"""Runs cases from public bug reports against the product: ``python -m tests.cases FILE.jsonl``.

A case says what goes in and which values have to be seen. A driver, chosen by the kind of a case and by what its input
holds, runs the product and gives back facts; the keys of ``expected`` are compared with them. What no driver can read
and what no fact answers is skipped with the reason, never passed.
"""
