"""``make bench``: how long ctxhost takes for the same work as the reference, as ratios. Not part of the package."""
