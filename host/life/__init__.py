"""Lives of queue entries for people: which to show, as Kanata text, as tables."""
