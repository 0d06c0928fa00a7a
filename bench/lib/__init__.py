"""Parts of `make bench`."""
