"""How fast trees are grown and asked, beside other libraries: `make bench`."""
