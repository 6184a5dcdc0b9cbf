"""Independent load generators (wrk, oha, ghz): what each takes, how it is called, and how its report is read. Pure."""
