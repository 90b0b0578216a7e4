"""Saves and restores the variables of a kernel and the state of its process."""
