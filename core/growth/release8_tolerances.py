"""The tolerances of C4.5 as programmed; see `release8`."""

TOLERANCE = 1e-6  # of gains, ratios and sizes
NEAR_AVERAGE = 1e-3  # a gain this little below the average still passes
SAME_VALUE = 1e-5  # neighbouring values that differ by no more are one value
MANY_VALUES = 0.3  # categories per training row, from which on an attribute's gain says little
