"""The host program: graphs in, strongly connected components out."""

__all__: list[str] = []
