"""What can be measured: every `services/<language>/manifest.json`, merged; no language is known by name here."""
