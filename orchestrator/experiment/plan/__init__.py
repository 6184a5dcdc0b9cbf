"""From an experiment to a plan: cells, order, payloads, hosts, cost."""
