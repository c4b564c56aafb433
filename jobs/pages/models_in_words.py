"""What a privacy model promises about the groups of a release, for a reader who is no expert."""

from __future__ import annotations

from collections.abc import Sequence

from coterie.anonymity.models.alpha_anonymity import AlphaAnonymity
from coterie.anonymity.models.closeness import Closeness
from coterie.anonymity.models.confidence_bounding import ConfidenceBounding
from coterie.anonymity.models.distances.divergence import DivergenceCloseness
from coterie.anonymity.models.distances.given_costs import CostCloseness
from coterie.anonymity.models.distances.over_taxonomy import TaxonomyCloseness
from coterie.anonymity.models.distinct_diversity import DistinctDiversity
from coterie.anonymity.models.entropy_diversity import EntropyDiversity
from coterie.anonymity.models.exponential_diversity import ExponentialDiversity
from coterie.anonymity.models.joint_diversity import JointDiversity
from coterie.anonymity.models.k_anonymity import KAnonymity
from coterie.anonymity.models.model import Model, Together
from coterie.anonymity.models.recursive_diversity import RecursiveDiversity
from coterie.base.text import numbered
from coterie.jobs.pages.markup import Content, foreign, listed


def in_words(model: Model, sensitive: Sequence[str]) -> list[Content]:
    """The promise about the values of the sensitive columns, with the name of the model."""
    return [*_promise(model, listed(sensitive)), " (", foreign(model.name), ")"]


def _promise(model: Model, names: list[Content]) -> list[Content]:
    match model:
        case Together():
            found: list[Content] = []
            for part in model.models:
                found += [*([", and "] if found else []), *_promise(part, names)]
            return found
        case KAnonymity():
            return [f"each group has at least {model.k:,} records"]
        case DistinctDiversity():
            return [f"each group has at least {model.l:,} different values of ", *names]
        case EntropyDiversity():
            return ["in each group the values of ", *names, f" are mixed at least as evenly as {model.l:g} values that are equally frequent"]  # fmt: skip
        case RecursiveDiversity():
            return ["in each group the most frequent value of ", *names, f" is less than {model.c:g} times as frequent as all but the {model.l - 1:,} most frequent together"]  # fmt: skip
        case AlphaAnonymity():
            return ["no value of ", *names, f" is that of more than {model.alpha:.3g} of a group (1 is all of it)"]  # fmt: skip
        case ConfidenceBounding():
            bounds = [f"{value} is that of at most {bound:.3g}" for value, bound in model.bounds.items()]  # fmt: skip
            return ["of the records of any group (1 is all of them), of ", *names, ": ", *listed(bounds)]  # fmt: skip
        case Closeness() | DivergenceCloseness() | TaxonomyCloseness() | CostCloseness():
            return ["in each group the values of ", *names, f" are distributed nearly as in the whole table: the distance is at most {model.t:g} (0 is equal)"]  # fmt: skip
        case JointDiversity() if model.l <= 2:
            return ["each group shows at least two values of each of ", *names]
        case JointDiversity():
            ruled = numbered(model.l - 2, "value")
            return [f"whoever rules out any {ruled} of ", *names, " for a group still sees two values of each column in it"]  # fmt: skip
        case ExponentialDiversity():
            return ["whoever knows all of ", *names, f" but one of a person still sees at least {model.l:,} values of that one"]  # fmt: skip
    return ["a condition holds in each group for ", *names]
