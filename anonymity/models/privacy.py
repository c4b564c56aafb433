"""The privacy models: one file each, and all of them by name from here.

| model | definition | holds when |
|---|---|---|
| `KAnonymity` | Samarati, Sweeney | n >= k |
| `DistinctDiversity` | Machanavajjhala et al. | at least l sensitive values occur |
| `EntropyDiversity` | the same | entropy of the sensitive values >= log l |
| `RecursiveDiversity` | the same | r1 < c (rl + ... + rm), frequencies in falling order |
| `AlphaAnonymity` | Wong et al., (alpha, k) | no sensitive value has a share above alpha |
| `ConfidenceBounding` | Wang, Fung, Yu | value s has a share of at most h(s) |
| `JointDiversity` | Gal, Chen, Gangopadhyay | no l-1 values of several columns are in all rows |
| `ExponentialDiversity` | Machanavajjhala et al. | l values beside each combination of the others |
| `Closeness` | Li, Li, Venkatasubramanian | distance between shares in group and table <= t |
| `DivergenceCloseness` | the same, by Kullback and Leibler | divergence from the table <= t |
| `TaxonomyCloseness` | the same, over a taxonomy | work along the taxonomy's edges <= t |
| `CostCloseness` | the same, with given costs | least cost of turning one into the other <= t |

(Paper 1 §8 uses these as validity conditions beside k; paper 3 §20.3 prints most of the formulas.)
Their base class is in `model`; docs/privacy-models.md says what each protects from.
"""

from coterie.anonymity.models.alpha_anonymity import AlphaAnonymity
from coterie.anonymity.models.closeness import Closeness, UnlistedValueError
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
from coterie.anonymity.models.tuple_model import TupleModel

__all__ = [
    "AlphaAnonymity",
    "Closeness",
    "ConfidenceBounding",
    "CostCloseness",
    "DistinctDiversity",
    "DivergenceCloseness",
    "EntropyDiversity",
    "ExponentialDiversity",
    "JointDiversity",
    "KAnonymity",
    "Model",
    "RecursiveDiversity",
    "TaxonomyCloseness",
    "Together",
    "TupleModel",
    "UnlistedValueError",
]
