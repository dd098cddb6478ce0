"""Lifetimes of queue entries and of their neighbours, from the signals of a waveform window."""

from cyscc.sim.observation.life.lives import Fate, Life, Span, Stage, Wait
from cyscc.sim.observation.life.machine import Lives, UntoldLivesError, read_lives

__all__ = ["Fate", "Life", "Lives", "Span", "Stage", "UntoldLivesError", "Wait", "read_lives"]
