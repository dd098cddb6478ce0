"""The program under faults: of its environment, its inputs, its memory."""
