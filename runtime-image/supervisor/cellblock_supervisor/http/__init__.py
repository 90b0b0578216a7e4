"""The one control port: HTTP/1.1 over a Unix socket or TCP."""
