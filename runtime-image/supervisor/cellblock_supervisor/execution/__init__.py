"""Executions: their events, their limits and the kernel that runs them."""
