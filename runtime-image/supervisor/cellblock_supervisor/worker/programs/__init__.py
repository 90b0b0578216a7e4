"""Programs that run as separate processes with the rights of the worker."""
