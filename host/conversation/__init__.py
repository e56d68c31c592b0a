"""The one owner of a conversation: messages are accepted, archived, compacted and shown here and nowhere else."""
