"""Kernels of notebooks that run inside a sandbox: `jupyter nbconvert --execute`, nbclient. They use Unix sockets only."""
