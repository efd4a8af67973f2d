"""Samples in the form that kernels take them: columns as sorted lists or codes."""
