"""Tests of the software that the accelerator is compared with."""
