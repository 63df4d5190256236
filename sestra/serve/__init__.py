"""The page and the HTTP interface: ``sestra serve``."""
