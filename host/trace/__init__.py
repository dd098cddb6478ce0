"""Traces for Perfetto: a record on a time line."""
