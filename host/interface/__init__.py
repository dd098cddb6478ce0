"""The Python interface, which is the command line, too: public functions that return answers."""
