"""Every privacy model is said in words that need no textbook, beside its name."""

import pytest

from coterie.anonymity.models.alpha_anonymity import AlphaAnonymity
from coterie.anonymity.models.closeness import Closeness
from coterie.anonymity.models.confidence_bounding import ConfidenceBounding
from coterie.anonymity.models.distances.divergence import DivergenceCloseness
from coterie.anonymity.models.distances.given_costs import CostCloseness, Costs
from coterie.anonymity.models.distances.over_taxonomy import TaxonomyCloseness
from coterie.anonymity.models.distinct_diversity import DistinctDiversity
from coterie.anonymity.models.entropy_diversity import EntropyDiversity
from coterie.anonymity.models.exponential_diversity import ExponentialDiversity
from coterie.anonymity.models.joint_diversity import JointDiversity
from coterie.anonymity.models.k_anonymity import KAnonymity
from coterie.anonymity.models.model import Model, Together
from coterie.anonymity.models.recursive_diversity import RecursiveDiversity
from coterie.anonymity.models.tuple_model import TupleModel
from coterie.jobs.pages.markup import element
from coterie.jobs.pages.models_in_words import in_words
from tests.jobs.pages.reading import Reading

SAID = [
    (KAnonymity(5), "each group has at least 5 records"),
    (DistinctDiversity(3), "at least 3 different values of Ill"),
    (EntropyDiversity(2.5), "as evenly as 2.5 values"),
    (RecursiveDiversity(2, 3), "less than 2 times as frequent as all but the 2 most frequent"),
    (AlphaAnonymity(0.25), "more than 0.25 of a group"),
    (ConfidenceBounding({"flu": 0.4}), "flu is that of at most 0.4"),
    (Closeness(0.2), "the distance is at most 0.2"),
    (DivergenceCloseness(0.2), "the distance is at most 0.2"),
    (TaxonomyCloseness(0.2), "the distance is at most 0.2"),
    (CostCloseness(0.2, Costs(("flu",), ((0.0,),))), "the distance is at most 0.2"),
    (JointDiversity(4, ("Ill", "Cure")), "rules out any 2 values"),
    (JointDiversity(2, ("Ill", "Cure")), "at least two values of each of Ill"),
    (ExponentialDiversity(3, ("Ill", "Cure")), "at least 3 values of that one"),
]
MODELS = {type(model) for model, _ in SAID}


def words(model, sensitive=("Ill",)):
    return Reading(str(element("p", *in_words(model, sensitive)))).words


@pytest.mark.parametrize(("model", "due"), SAID, ids=lambda value: type(value).__name__)
def test_a_model_says_what_it_promises_and_its_name(model, due):
    assert due in words(model)
    assert model.name in words(model)


def test_models_together_say_what_each_promises():
    both = words(Together((KAnonymity(5), DistinctDiversity(3))))
    assert "at least 5 records, and each group has at least 3 different values" in both


def test_no_model_is_without_words():
    found, left = set(), [Model, TupleModel]
    while left:
        for model in left.pop().__subclasses__():
            if model.__module__.startswith("coterie.") and model not in found:
                found.add(model)
                left.append(model)
    assert found - {TupleModel, Together} == MODELS


def test_a_hostile_value_stays_text():
    page = str(element("p", *in_words(ConfidenceBounding({"<img src=x>": 0.4}), ["<b>"])))
    assert {"img", "b"}.isdisjoint(Reading(page).names)
