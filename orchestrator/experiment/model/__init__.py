"""What an experiment may say."""
