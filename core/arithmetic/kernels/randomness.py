"""Kernels of `randomness`: keys are `uint64`, whose arithmetic is modulo 2^64 by itself."""

from numba import uint64

from core.compiler.compile import compiled


@compiled
def splitmix64(state):
    """`randomness.splitmix64`."""
    mixed = state + uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> uint64(27))) * uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> uint64(31))


@compiled
def key_of(key, number):
    """`randomness.key_of`, and so `randomness.path_key`."""
    return splitmix64(key + uint64(number + 1) * uint64(0xD1342543DE82EF95))


@compiled
def uniform(key):
    """`randomness.uniform`."""
    return (float(splitmix64(key) >> uint64(12)) + 0.5) / 4503599627370496.0
