"""The version of Niwaki; the package metadata and the OpenAPI document take it from here."""

VERSION = "0.2.0"
