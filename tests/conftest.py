from hypothesis import settings

# The same examples every time: a test that fails, fails again.
settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=50, print_blob=False)
settings.load_profile("repeatable")
