"""The core in C++ that lies in ``dfopt/core``: a typed module for each of its folders.

The functions of the core keep the interpreter's lock released while they run. Each call takes at
most some tens of milliseconds, so that Python looks at the clock between two of them.
"""
