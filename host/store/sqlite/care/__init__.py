"""Looking after the file: checks, copies, erasure, repair."""
