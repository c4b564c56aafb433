"""The inventory: one row for each table, figure and worked example that the five sources print.

`state` is `equal` (the printed number), `close` (the number up to what the source leaves open), `shape`
(the statement, not the number) or `lost` (data or figure cannot be had; `note` says which). `place`
is an experiment (`experiment NAME`), a benchmark (`bench NAME`) or a test file that shows it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["equal", "close", "shape", "lost"]
STATES: dict[State, str] = {
    "equal": "reproduced",
    "close": "reproduced, up to what the source leaves open",
    "shape": "reproduced in shape",
    "lost": "not reproducible",
}
SOURCES = {
    1: "Mohammed, Fung, Debbabi: Anonymity meets game theory",
    2: "P3DM'08: five articles of the workshop",
    3: "Textbook chapter 20: privacy-preserving data mining",
    4: "Lodha, Thomas: Probabilistic anonymity",
    5: "Gal, Chen, Gangopadhyay: multiple sensitive attributes",
}


@dataclass(frozen=True)
class Row:
    source: int
    item: str
    state: State
    printed: str
    ours: str
    place: str
    note: str = ""


_EXAMPLES = "tests/papers/test_specialization_examples.py"
_SEVERAL = "tests/papers/test_several_sensitive.py"
_LOG = "tests/papers/test_logarithm_figures.py"
_ATTACK = "tests/onetable/attack/test_attack.py"

ROWS = (
    Row(1, "Table 1, Figures 1 and 2, Example 1: the running example", "equal", "34 records", "34 records", _EXAMPLES),
    Row(1, "Example 2: combinations that violate k = 4", "equal", "five of Sex and Job", "the same five", _EXAMPLES),
    Row(1, "Table 2: DkA", "equal", "two rounds", "two rounds", "tests/protocols/integration/test_dka.py"),
    Row(1, "Examples 3 and 4: score and split", "equal", "0.272; 37 with gain 0.3584", "0.27227; 37 with 0.3584", _EXAMPLES),
    Row(1, "Examples 5 to 7, Figures 3 to 5: TIPS and QIDTrees", "equal", "12, 4, 18; 16, 18", "12, 4, 18; 16, 18", _EXAMPLES),
    Row(1, "Table 3: A does not take part", "shape", "four groups", "two steps finer", "tests/papers/test_printed_tables.py", "not where Algorithm 1 ends: two further steps are valid and beneficial"),
    Row(1, "Figures 6 and 7, Eq. 5 to 7: payoff, repeated game", "shape", "drawings without numbers", "the matrix measured; pairs that collude", "experiment payoffs", "the paper plays no game"),
    Row(1, "Theorem 1", "shape", "delta^(n-1) >= 1 - c/w", "holds in long games; 14 exceptions of 4,200 in short ones, explained", "experiment deviation", "the theorem is about a game without end, and prints no number"),
    Row(1, "Table 4: Adult, ranking by C4.5", "equal", "Cg Ag Ms En Re Hw Sx Ed Oc", "the same nine in the same order", "experiment adult"),
    Row(1, "§7.1: BE, SE, UE", "close", "14.7; 17.7, 17.9; 20.4, 21.5, 22.4", "14.83; 17.60, 17.88; 20.37, 21.53, 22.40", "experiment adult"),
    Row(1, "Figure 8: IE over k", "close", "Top5 14.8 to k = 180; Top7 < BE + 1; Top9 > 17.6 from 80", "14.78 to 14.83; 15.16 to 15.35, 17.74 at 200; 17.82 to 18.35", "experiment adult", "the figure's values are not in the text"),
    Row(1, "Figure 9: eight attributes, ten-fold, beside LM and CM", "shape", "comparable to CM", "18.06 to 19.04, 23.90 at k = 200", "experiment folds", "the figure and Iyengar's series are not to be had"),
    Row(1, "Figures 10 and 11: Algorithm 2", "close", "four parties 16.2, 16.6; highest 18.3", "15.88 to 16.14, 16.49 to 16.66; 18.37", "experiment deviation"),
    Row(1, "Figure 12: 50K to 200K records", "shape", "about 340 s at 200K; DkA 12.53 days", "0.11 s at 200K; one round of DkA 2.96 days", "experiment scale", "another machine, fifteen years later"),
    Row(1, "§8: l-diversity, confidence bounding, (alpha, k)", "shape", "rules without numbers", "each against a plain reference; rejected before it is performed", "tests/anonymity/models/test_privacy.py"),
    Row(2, "1: Table 1, illustration of four patients", "shape", "two groups of two", "the same two groups; the women's ages closer, [26, 28]", "tests/papers/test_printed_tables.py", "the printed ages are those of all four"),
    Row(2, "1: Figures 1 and 2: discernibility over k, with and without priorities", "shape", "comparable; far better for the favoured", "C_DM 2,305,596 to 2,361,586 at k = 50; weighted 295,097 to 0 (sex)", "experiment priorities", "only the axes survive"),
    Row(2, "1: Figures 3 and 4: credit data, accuracy", "lost", "figures", "", "docs/experiments.md", "figures lost; the decimal points of the data that can be had are lost"),
    Row(2, "2: Table 1: ratios of two sets of columns", "equal", "0.6 and 0.8; 0.8 and 0.9", "0.6 and 0.8; 0.8 and 0.9", "tests/anonymity/risk/test_ratios.py"),
    Row(2, "2: Tables 2 to 4, the Adult rows", "equal", "masks 12 and 5; keys 13, 13, 5", "masks 12 and 5; keys 13, 13, 5", "experiment keys"),
    Row(2, "2: Tables 2 to 4, census, covtype and states", "lost", "masks of 16 to 46, keys of 2 to 29 columns", "", "docs/experiments.md", "the tables cannot be had offline"),
    Row(2, "2: Figure 1, California", "lost", "34 and 32 attributes", "", "docs/experiments.md", "the table cannot be had offline"),
    Row(2, "3: the corrected logarithm, three settings of §7", "equal", "errors 0.0112, 0.0044, 0.0018; 1,497, 1,386, 1,314 gates", "the same errors; less than a quarter of the gates to pay for", _LOG),
    Row(2, "4: Figures 1 to 5: worked example of constrained k-anonymity", "equal", "{1,2}, {3,4,7}, {5,6}", "{1,2}, {3,4,7}, {5,6}", "tests/anonymity/algorithms/test_cluster.py"),
    Row(2, "4: Figures 6 and 7, Tables 1 and 2: violations and suppression", "shape", "country 605 to 2,728, 0 suppressed; with age 2,209 to 9,549, 5 to 106", "666 to 2,720 (within 13 %), 0; 3,210 to 11,320, 6 to 54", "experiment constrained", "the sample and the bands of age are not stated: with age our violations are up to half more"),
    Row(2, "4: Figure 8: information loss", "shape", "bounds lower the loss for larger k", "country at k = 10: 20,702 beside 21,670", "experiment constrained", "the curves are lost"),
    Row(2, "4: Figure 9: running times", "lost", "curves", "", "docs/experiments.md", "the curves are lost, and the machine is another one"),
    Row(2, "5: Figures 1 to 5: random-kernel SVM and Cox", "shape", "near the pooled model at m = n - 1", "0.618 beside 0.619; 0.965 beside 0.974", "experiment random-kernel", "the hospitals' data cannot be had; the attack recovers 228 of 228"),
    Row(3, "Tables 20.1 and 20.2: linkage attack", "equal", "six patients, ten voters", "who is found, as printed", _ATTACK),
    Row(3, "Table 20.3: three-anonymous, and yet revealed", "equal", "the young all have HIV", "inferred with certainty", _ATTACK),
    Row(3, "Figures 20.1 to 20.4: lattices, Samarati, Incognito", "shape", "drawings", "600 and 21,600 nodes of Adult: those that satisfy k, as by enumeration", "experiment lattices", "the chapter prints no experiment"),
    Row(3, "Figure 20.5: Mondrian", "shape", "a drawing of a 5-anonymous partition", "groups and boxes against plain enumeration", "tests/anonymity/algorithms/test_mondrian.py", "the points are not printed"),
    Row(3, "Figure 20.6: horizontal and vertical partition", "shape", "a drawing", "every kind of job on both", "tests/jobs/test_views.py", "no numbers"),
    Row(3, "20.2.1: reconstruction, exercises 1 and 2", "shape", "formulas without numbers", "L1 of Adult's ages 0.05 to 0.06 at the stop, 0.10 to 0.78 before", "experiment noise", "the chapter prints no experiment"),
    Row(3, "20.2.2: naive Bayes on distributions", "shape", "no numbers", "0.776 to 0.801 under noise, 0.823 without", "experiment noise", "the chapter prints no experiment"),
    Row(3, "20.7: attacks on noise and on rotations", "shape", "no numbers", "noise of 1.0 leaves 0.50; 30 known records of 30 columns leave 0.000", "experiment noise", "cited only"),
    Row(3, "20.3.1.4: condensation, exercise 6", "equal", "a task; the answer is not printed", "a quarter of the variance stays within the halves", "tests/anonymity/condensation/test_moments.py"),
    Row(3, "Exercises 11, 14 and 16: divergence, chances to be found", "shape", "tasks without numbers", "tried on random tables; the chance is n/2^B", "tests/anonymity/risk/test_reidentification.py", "the print lost the exponent"),
    Row(3, "20.4: hiding of rules", "shape", "rules without numbers", "exact equals enumeration of small tables", "tests/anonymity/rules/test_exact.py"),
    Row(4, "Examples 2 to 4", "equal", "0.93; 0.025", "0.9277; 0.0245", "tests/anonymity/risk/test_quasi_identifiers.py"),
    Row(4, "Figure 1: the share of unique people by D/n", "equal", "a curve; the column F2 of Figure 3", "the twelve numbers of F2, to the printed rounding", "experiment crowd"),
    Row(4, "Figure 3: Adult", "equal", "S of twelve sets, 2 to 24,802", "the same twelve numbers", "experiment crowd"),
    Row(4, "Examples 5 to 8: generalized spaces and their parts", "equal", "D' = 2.4e6; 133, then 2, 1.1e3, 1.1e3", "2.443e6; 133.9, then 2, 1,095, 1,095", "tests/anonymity/risk/test_crowd.py"),
    Row(4, "Theorem 4", "shape", "a crowd with probability 1 - beta", "0.82 to 0.98 on Adult, whose columns are not independent", "experiment crowd", "the theorem assumes independent columns"),
    Row(4, "Equation 1", "close", "real numbers", "best whole numbers in 163 of 200 cases, else at most 17 % off", "experiment crowd"),
    Row(4, "Examples 9 to 11, §4.2: quantiles of one column", "equal", "{1, 3, 4}, {7, 12}", "the same groups; the least difference in ranks of all maps", "tests/anonymity/algorithms/one_dimension/test_groups.py"),
    Row(4, "§4.3: sampled quantiles", "shape", "a bound", "within it on random columns; k by the count", "tests/anonymity/algorithms/one_dimension/test_sampled.py", "no experiment is printed"),
    Row(4, "Figure 2: a categorical attribute", "shape", "a drawing", "taxonomies of any depth", "tests/anonymity/table/test_taxonomy.py", "no numbers"),
    Row(4, "Figures 4 to 6: times by rows, columns and buckets", "lost", "curves; about 10 s to read", "", "docs/experiments.md", "the curves are lost, and the machine is another one"),
    Row(4, "Figure 7: error by number of buckets", "shape", "close to 1/b^2", "so for evenly spread numbers only; `error` of every release", "docs/one-table.md", "the curve is lost"),
    Row(5, "Figures 1 to 8: worked examples and checks", "equal", "tables of a few patients", "the same verdicts", _SEVERAL),
    Row(5, "Table 1: error of random counts", "shape", "11.3 %, 14.6 %, 1.6 %; Exponential-L 23.2 %, 28.6 %, 8.5 %", "on Adult 14.2 %, 39.2 %, 3.4 %; 23.9 %, 67.4 %, 5.1 %", "experiment diversity", "the registry cannot be had; how values are drawn is not said"),
    Row(5, "Figures 9 to 11: discernability over L, K and columns", "shape", "flat in small L; Exponential-L one group", "on Adult 72.6 to 236.6 for L = 2 to 10; one group from two columns on", "experiment diversity", "the registry cannot be had, and the curves are lost"),
    Row(5, "Figure 12: column-wise limits", "shape", "eased, and from L3 = 8 of 10 on no longer", "on Adult 72.6 to 160.6, and from L3 = 5 of 6 on no longer", "experiment diversity", "the registry cannot be had, and the curve is lost"),
    Row(5, "Errors of 10.4 % and 11.7 % with L3 = 2 and 10; Figures 13 and 14: times", "lost", "10.4 %, 11.7 %", "", "docs/experiments.md", "the registry cannot be had, and the curves are lost"),
)  # fmt: skip
