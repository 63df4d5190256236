"""Errors that are the input's fault, not the program's: shown as a message, without a traceback."""


class InputError(ValueError):
    """Something from outside (a file, a flag, a request) is not as expected; the message says what to do."""


def shortened(text: str, most: int = 60) -> str:
    """A value from outside, short enough to stand in a message.

    >>> shortened("throw out the first one", 10)
    'throw out…'
    """
    return text if len(text) <= most else text[: most - 1] + "…"
