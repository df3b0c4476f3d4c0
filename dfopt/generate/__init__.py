"""Random instances, seeded: the same parameters give the same instance everywhere.

The families ``zipf``, ``uniform`` and ``tight`` differ in how many tasks share a fragment;
``matrix`` draws a switch table. All of them are pure functions.
"""

from dfopt.generate.families import FragmentOptions, MachineOptions, matrix, tight, uniform, zipf

__all__ = ["FragmentOptions", "MachineOptions", "matrix", "tight", "uniform", "zipf"]
