"""The paper's experiments: the grid as data, its runs on Ray, sweeps, and the tables and figures made of what they leave."""
