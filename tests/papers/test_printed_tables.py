"""Small tables that the papers print beside their anonymous versions."""

from coterie.anonymity.algorithms.mondrian import Options, mondrian
from coterie.anonymity.specialization.scores import SCALE
from coterie.anonymity.specialization.specialize import Requirement
from coterie.anonymity.table.columns import categorical_column, continuous_column
from coterie.anonymity.table.table import Table
from coterie.anonymity.table.taxonomy import taxonomy_of
from coterie.protocols.messaging.memory import run_parties
from tests.protocols.integration.splits import loans

# P3DM 2008, first article, Table 1: Henry, Irene, Dan and Erica.
AGES, SEXES = ["25", "28", "28", "26"], ["Male", "Female", "Male", "Female"]
ZIPCODES = ["53710", "53712", "53711", "53712"]


def test_the_four_patients_are_in_the_two_printed_groups():
    table = Table(
        (
            continuous_column("Age", AGES),
            categorical_column("Gender", SEXES, taxonomy_of([["Male", "*"], ["Female", "*"]])),
            continuous_column("Zipcode", ZIPCODES),
        )
    )
    made = mondrian(table, [Requirement(("Age", "Gender", "Zipcode"), 2)], 0, Options())
    shown = {name: [c.labels[code] for code in c.codes] for name, c in made.columns.items()}
    assert shown["Gender"] == SEXES
    assert shown["Zipcode"] == ["[53710, 53711]", "53712", "[53710, 53711]", "53712"]
    assert shown["Age"] == ["[25, 28]", "[26, 28]", "[25, 28]", "[26, 28]"]


def test_table_3_of_paper_1_is_not_where_algorithm_1_ends():
    """Where A does not take part, two further steps follow; what A receives is the same."""
    split = loans()
    together = split.run()["ann"]
    away = split.party("ann", takes_part=lambda me, contributions: False)
    alone = run_parties({"ann": away, "bob": split.party("bob")})["bob"]
    assert alone.table.cut == {
        "Sex": ["ANY_Sex"],
        "Job": ["Non-Technical", "Carpenter", "Technician", "Manager", "Professional"],
        "Salary": ["[1, 35)", "[35, 37)", "[37, 44)", "[44, 99]"],
    }
    assert round(together.contributions["bob"] / SCALE, 3) == 1.636
    assert alone.contributions["bob"] == together.contributions["bob"]
