"""Independent load generators (wrk, oha, ghz): how each is found, told what to ask, and read. Pure but for `tools`."""
