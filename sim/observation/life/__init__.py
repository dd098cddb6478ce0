"""The life of queue entries and of the neighbours that come of them, from the signals of a window."""

from sim.observation.life.lives import Fate, Life, Span, Stage, Wait
from sim.observation.life.machine import Lives, read_lives

__all__ = ["Fate", "Life", "Lives", "Span", "Stage", "Wait", "read_lives"]
