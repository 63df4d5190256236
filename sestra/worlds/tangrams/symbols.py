"""What Tangrams' states are written with."""

SHAPES = "01234"
