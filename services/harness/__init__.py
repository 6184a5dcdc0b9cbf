"""Clock, recorder, load loops and the process contract; no protocol is known here."""
