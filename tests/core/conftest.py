"""Generated examples are the same in every run, and as slow as they need to be."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "core",
    deadline=None,
    derandomize=True,
    print_blob=True,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)
settings.load_profile("core")
