"""Sessions of a shell, Node.js and R beside the Python kernel."""
