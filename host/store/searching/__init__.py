"""Searching without a database: what a query means, what it matches, how hits are shown. Every store's search is made of it."""
