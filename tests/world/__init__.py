"""A simulated world: all servers and coordinators of some organisations in one process.

Clock, threads, network and disks are simulated; everything above them is the product's own code,
which knows nothing of it. `tests.world.run` tells how to run and replay it.
"""
