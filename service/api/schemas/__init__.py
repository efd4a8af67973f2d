"""The shapes of bodies, one file for each resource; the names are public in the OpenAPI document."""
