"""What an Application Engine takes on a Virtex-5 or Virtex-6, beside the published machine."""

__all__: list[str] = []
