"""The kernel: its construction, its requests, and what it does around each cell."""
