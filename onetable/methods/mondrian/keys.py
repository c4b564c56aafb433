"""The keys of a table file that go with `method: mondrian`: `rule`, `boxes`, `cuts`, `score`."""

from __future__ import annotations

from coterie.anonymity.algorithms.mondrian import Options
from coterie.anonymity.algorithms.width import WidthOptions
from coterie.anonymity.cuts.scoring import SCORES, WIDTH
from coterie.jobs.file.document import Section


def read_options(section: Section, class_name: str | None) -> Options | WidthOptions:
    def chosen(key: str, *choices: str) -> str | None:
        return section.read(key, lambda node: node.choice(*choices), None)

    rule, boxes = chosen("rule", "entropy", "spread", "width"), chosen("boxes", "tight", "regions")
    cuts, score = chosen("cuts", "strict", "relaxed"), section.optional("score")
    if rule != "width":
        if score is not None:
            raise score.error("is only for 'method: specialize', and for 'rule: width' of mondrian")
        return Options(
            rule="spread" if rule == "spread" else "entropy",
            boxes="regions" if boxes == "regions" else "tight",
            relaxed=cuts == "relaxed",
        )
    if cuts == "relaxed":
        raise section.required("cuts").error("'rule: width' keeps equal values together")
    found = WIDTH if score is None else score.choice(*SCORES)
    if found != WIDTH and class_name is None:
        raise section.error(f"the key 'class' is missing; the score '{found}' needs it")
    return WidthOptions(found, boxes == "tight", class_name)
