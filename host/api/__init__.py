"""The Python interface for programs and notebooks, re-exported by `import cyscc`."""
