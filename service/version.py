"""The version of Niwaki. It is written here and nowhere else: the package's metadata and the OpenAPI document read it."""

VERSION = "0.2.0"
