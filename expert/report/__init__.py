"""Advice and explanations printed: text for people, JSON for programs."""
