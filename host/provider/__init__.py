"""The model's service: asking it, its failures by class, a scripted stand-in, and what is known of each model."""
