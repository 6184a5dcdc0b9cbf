"""What stands between a server and the paths of a protocol, each in the way of its documentation; `asgi` is none."""
