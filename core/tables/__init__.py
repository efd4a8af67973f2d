"""Tables: columns, schema, target, kinds found in raw values, errors, progress."""
