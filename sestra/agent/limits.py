"""The longest input that an agent accepts, from Python, from the command line and over HTTP alike."""

LONGEST_INSTRUCTION = 1_000
"""Characters of one instruction."""
LONGEST_STATE = 2_000
"""Characters of one state."""
MOST_WORDS = 1_000
"""Words and punctuation marks in all instructions of an interaction together: the time for a turn grows with them."""
