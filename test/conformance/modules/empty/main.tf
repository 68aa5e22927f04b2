# Nothing is configured here.
