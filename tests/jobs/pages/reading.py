"""Reads a page back as a browser would, as far as a test needs it."""

from html.parser import HTMLParser

VOID = {"meta", "br", "col", "hr", "input"}


class Reading(HTMLParser):
    """The elements of a page; fails where tags do not match."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.text = [], [], []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open, tag
        assert self.open.pop() == tag

    def handle_data(self, text):
        self.text.append(text)

    @property
    def names(self):
        return {tag for tag, _ in self.tags}

    @property
    def words(self):
        return " ".join(" ".join(self.text).split())


def loads(page):
    """Everything by which a page could fetch something."""
    found = []
    for tag, attributes in Reading(page).tags:
        if tag in {"script", "img", "link", "iframe", "object", "embed", "form", "base"}:
            found.append(tag)
        for name, value in attributes.items():
            if name.startswith("on") or (
                name in {"src", "href", "action"} and not value.startswith("#")
            ):
                found.append(f"{tag} {name}={value}")
            if name == "style" and "url(" in value:
                found.append(f"{tag} {name}={value}")
    return found
