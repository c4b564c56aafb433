"""Table 1 and Figure 2 of paper 1: 34 loan applications at a lender and a bank."""

# Records, sex, job, salary, of which class Y, of which class N.
GROUPS = [
    ("Male", "Janitor", "30", 0, 3),
    ("Male", "Mover", "32", 0, 4),
    ("Male", "Carpenter", "35", 2, 3),
    ("Female", "Technician", "37", 3, 1),
    ("Female", "Manager", "42", 4, 2),
    ("Female", "Manager", "44", 3, 0),
    ("Male", "Accountant", "44", 3, 0),
    ("Female", "Accountant", "44", 3, 0),
    ("Male", "Lawyer", "44", 2, 0),
    ("Female", "Lawyer", "44", 1, 0),
]
ROWS = [
    {"Sex": sex, "Job": job, "Salary": salary, "Class": label}
    for sex, job, salary, yes, no in GROUPS
    for label in ["Y"] * yes + ["N"] * no
]
SEX = [("Male", "ANY_Sex"), ("Female", "ANY_Sex")]
JOB = [
    ("Janitor", "Non-Technical", "Blue-collar", "ANY_Job"),
    ("Mover", "Non-Technical", "Blue-collar", "ANY_Job"),
    ("Carpenter", "Technical", "Blue-collar", "ANY_Job"),
    ("Technician", "Technical", "Blue-collar", "ANY_Job"),
    ("Manager", "Manager", "White-collar", "ANY_Job"),
    ("Accountant", "Professional", "White-collar", "ANY_Job"),
    ("Lawyer", "Professional", "White-collar", "ANY_Job"),
]
REQUIREMENTS = [(["Sex", "Job"], 4), (["Sex", "Salary"], 5)]
