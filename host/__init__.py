"""The host program: graphs in, strongly connected components out."""
