"""What a partner or a coordinator may choose, chosen as badly as we can think of."""
