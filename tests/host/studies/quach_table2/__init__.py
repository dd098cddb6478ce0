"""Tests of the study `quach_table2`."""
