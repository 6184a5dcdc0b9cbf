"""The two ends in Python: responders and requesters of every protocol, and what they share."""
