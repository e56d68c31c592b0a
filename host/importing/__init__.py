"""Recordings of other clients, brought into the archive: found, read on from where they were, kept."""
