"""Tools over the archive for an agent: search it, open what was found."""
