"""What runs as the unprivileged worker, and what makes a process one."""
