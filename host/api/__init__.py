"""What Python programs and notebooks use; `import cyscc` re-exports it."""
