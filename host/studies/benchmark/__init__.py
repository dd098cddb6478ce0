"""How fast the machine is simulated: the executors and other ways to execute the same hardware, measured in one go."""

__all__: list[str] = []
