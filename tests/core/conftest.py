"""Generated examples are the same in every run of `make test`, and as slow as they need to be."""

from hypothesis import HealthCheck, settings

from tests.examples import IS_FUZZING, n_examples

settings.register_profile(
    "core",
    deadline=None,
    derandomize=not IS_FUZZING,
    print_blob=True,
    max_examples=n_examples(60),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)
settings.load_profile("core")
