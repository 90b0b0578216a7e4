"""The program that owns a sandbox: its kernel, its limits and its one control port. See runtime-image/PROTOCOL.md."""
