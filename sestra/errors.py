"""Errors that are the input's fault, not the program's: shown as a message, without a traceback."""


class InputError(ValueError):
    """Something from outside (a file, a flag, a request) is not as expected; the message says what to do."""
