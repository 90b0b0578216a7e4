"""Programs that run as processes of their own with the rights of the worker."""
