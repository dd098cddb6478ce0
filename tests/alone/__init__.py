"""Each component by itself, under random inputs that respect its contract; its responses are pinned."""
