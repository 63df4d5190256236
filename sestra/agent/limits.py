"""The longest input that an agent accepts, from Python, from the command line and over HTTP alike."""

MAX_INSTRUCTION_LENGTH = 1_000
"""Characters of one instruction."""
MAX_STATE_LENGTH = 2_000
"""Characters of one state."""
MAX_WORDS = 1_000
"""Words and punctuation marks in all instructions of an interaction together: the time for a turn grows with them."""
