"""Hand-written gradients, each beside the plain version that tests hold it to."""
