"""The charts of the page, a file for each of its sections."""
