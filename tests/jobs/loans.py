"""The loan example as a folder with a job, and runs of it."""

import csv

from tests.papers.loans import JOB, ROWS, SEX

JOB_FILE = """\
kind: integrate
name: loan-approval
parties:
  lender: {data: lender.csv}
  bank: {data: bank.csv}
id: ID
class: Class
attributes:
  Sex: {party: lender, taxonomy: Sex.csv}
  Job: {party: bank, taxonomy: Job.csv}
  Salary: {party: bank, range: [1, 99]}
  Zodiac: {party: lender}
requirement:
  - {qid: [Sex, Job], k: 4}
  - {qid: [Sex, Salary], k: 5}
"""


# The same, but that groups of Sex and Job are counted in the population of a third party.
WITNESSED = (
    JOB_FILE.replace(
        "  bank: {data: bank.csv}\n", "  bank: {data: bank.csv}\n  registry: {data: registry.csv}\n"
    ).replace("k: 4}", "k_map: 20}")
    + "universe: registry\n"
)


ZODIAC = ["Aries", "Leo, maybe", 'the "Twins"', "", "Virgo"]


SIGNS = ["Aries", "Leo", "Gemini", "Pisces", "Virgo"]


def write_csv(path, rows, names):
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, names, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)


def loan_folder(folder, job=JOB_FILE, lender=None, bank=None, zodiac=ZODIAC):
    """The loan table over two parties in different orders, each with records the other lacks."""
    rows = [
        {**row, "ID": f"p{i:03}", "Zodiac": zodiac[i % len(zodiac)]} for i, row in enumerate(ROWS)
    ]
    others = [{**rows[0], "ID": f"x{i}"} for i in range(5)]
    more = [{**rows[-1], "ID": f"y{i}"} for i in range(7)]
    lender_names = lender or ["ID", "Sex", "Zodiac", "Class"]
    bank_names = bank or ["Salary", "ID", "Job", "Class"]
    write_csv(folder / "lender.csv", rows[::-1] + others, lender_names)
    write_csv(folder / "bank.csv", more + rows, bank_names)
    if "registry" in job:
        write_csv(folder / "registry.csv", population(), ["Salary", "Sex", "Job"])
    for name, paths in (("Sex", SEX), ("Job", JOB)):
        (folder / f"{name}.csv").write_text("".join(";".join(path) + "\n" for path in paths))
    path = folder / "job.yaml"
    path.write_text(job)
    return path


def population():
    """Everybody in the loan table six times over, without identifiers."""
    return [dict(row) for row in ROWS for _ in range(6)]


def release(out):
    with (out / "release.csv").open(newline="") as file:
        return list(csv.DictReader(file))
