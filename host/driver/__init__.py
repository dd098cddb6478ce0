"""The host program: searches and components on the accelerator, and the verification of its memory."""
