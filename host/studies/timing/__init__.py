"""How fast kernels and engine shell run on an ECP5, placed and routed."""

__all__: list[str] = []
