"""A world of your own: its rules in ``world.py``, interactions in ``data``, what must hold of both in ``test_world.py``."""
