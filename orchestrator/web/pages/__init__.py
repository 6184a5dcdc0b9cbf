"""The pages, a module for each: they read the request, ask what knows, and fill a template."""
