"""The Application Engine as a personality of the Convey HC-2: adapters to its memory, dispatch and AE-to-AE signals."""

from cyscc.hw.convey.personality import ConveyEngine

__all__ = ["ConveyEngine"]
