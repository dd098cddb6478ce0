"""Lifetimes of queue entries and of their neighbours, from the signals of a waveform window."""

from sim.observation.life.lives import Fate, Life, Span, Stage, Wait
from sim.observation.life.machine import Lives, read_lives

__all__ = ["Fate", "Life", "Lives", "Span", "Stage", "Wait", "read_lives"]
