"""Scene: the class is in ``world``, its parts are in the modules beside it."""
