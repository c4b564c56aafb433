"""What people see of a joint release: the report, and each party's own columns before and after."""
