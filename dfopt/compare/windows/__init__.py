"""Windows: how a few dispatches are put on CPUs at the least cost, given what caches hold.

``uniform``, ``leaves`` and ``matrix`` decide a window, each under its costs; ``solve`` chooses
between them, remembers what they found, and asks the solvers of dfopt for what they leave open.
"""
