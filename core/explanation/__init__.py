"""Why a record got its answer, and what could change it, as data and in words."""
