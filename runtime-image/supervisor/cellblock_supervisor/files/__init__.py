"""Files of /mnt/data: a helper with the worker's rights opens them, the supervisor reads, hashes and compares them."""
