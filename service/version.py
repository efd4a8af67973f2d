"""The version of Niwaki, written here only: the metadata of the package and the OpenAPI document read it."""

VERSION = "0.2.0"
