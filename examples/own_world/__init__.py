"""A world of your own, as a folder of files: ``sestra train --world examples/own_world/world.py:Warehouse``."""
