"""What went wrong and why: references to earlier turns, classes of errors, and a page to read them on."""
