"""Where accounts and transactions are kept: the same rows in memory or in a database, behind one small interface.

`seed` makes the rows, `base` is the interface and the times of a request, `opening` opens the store that a serve line names.
A store knows no operation and no protocol.
"""
