"""What makes a process a worker, and the probe that tries to break out of one."""
