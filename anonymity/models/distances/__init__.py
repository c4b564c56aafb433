"""t-closeness by further distances between the sensitive values of a group and of the table."""
