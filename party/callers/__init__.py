"""Who may call a party server, how often, and what."""
