"""The parts of `bench questions`: protocols on records that are lined up, and whole jobs."""
