"""Tests of cyscc: the folders mirror the packages."""
