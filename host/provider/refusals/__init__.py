"""Why a service refused a request: read by meaning, whatever words and whatever wrapping it comes in."""
