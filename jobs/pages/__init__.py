"""Pages for people: markup, charts and the frame that every report shares."""
