"""Conversations that come in from chat platforms: which session and agent a message belongs to, and what is done before it wakes."""
