"""Windows: how a few dispatches are put on CPUs at the least cost, given what caches hold.

``uniform``, ``leaves`` and ``matrix`` schedule a window, each under its own costs.
``window_solver`` chooses between them, remembers their schedules, and asks the solvers of dfopt
where they prove no optimum.
"""
