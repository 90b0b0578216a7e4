"""What code changes in its process besides variables, and what of that cannot be saved."""
