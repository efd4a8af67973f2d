"""How Python becomes machine code, and nothing about trees."""
