"""Changes of libraries, because a sandbox has no network, no display and no keyboard. `adapters` lists those that a kernel installs."""
