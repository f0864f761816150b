"""What pack authors run: lint and tests."""
