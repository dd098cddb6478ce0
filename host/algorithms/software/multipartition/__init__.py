"""The multi-partition method: a pivot forward, it and a vice pivot backward, all partitions at once."""

from host.algorithms.software.multipartition.rounds import multipartition

__all__ = ["multipartition"]
