"""What must survive: processes killed at any moment, logs cut at any frame, many processes on one conversation.

``python -m tests.chaos kill --runs 500``, ``wal``, ``soak --processes 4 --sessions 1 --seconds 30``; ``make chaos`` runs all.
"""
