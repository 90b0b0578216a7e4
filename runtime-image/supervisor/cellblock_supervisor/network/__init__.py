"""Connections of user code to the gateway. Imported when the container gets a policy."""
