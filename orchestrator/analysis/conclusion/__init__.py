"""The short answer of a run: one plain sentence, and at most three more on what it is worth, how sure it is, what to do."""
