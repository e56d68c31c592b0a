"""Running a conversation: with recorded replies."""
