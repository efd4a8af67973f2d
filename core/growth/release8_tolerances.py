"""How near is near enough in C4.5 as programmed; see `release8`."""

TOLERANCE = 1e-6  # of gains, ratios and sizes
NEAR_AVERAGE = 1e-3  # a gain this little below the average still passes
SAME_VALUE = 1e-5  # neighbouring values that are nearer are one value
MANY_VALUES = 0.3  # a category with so many values, in parts of all training rows, tells little by its gain
