"""The samples in the form that kernels take: columns as sorted lists or codes."""
