"""Messages: their shape, what is legal, who they are, what in them can be searched and what must be masked."""
