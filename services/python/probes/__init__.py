"""What is read of the machine: counters, clocks, sockets, versions."""
