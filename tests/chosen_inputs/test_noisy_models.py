"""`noise` of `regress` and `cluster`: a column of one person tells no more than its epsilon permits.

The attack that gets a salary exactly without noise: the partner's column is 1 for one person. Whoever
guesses the person's value from all that is told is right in both worlds, less wrong in the other, by
at most tanh(epsilon / 2).
"""

import math

import numpy as np
import pytest

from coterie.coordinator.simulate.simulation import simulate
from coterie.jobs.kinds.job_file import load_job

EPSILON, RUNS = 0.5, 12
HEAD = "name: noisy\nparties: {bank: {data: bank.csv}, clinic: {data: clinic.csv}}\nid: ID\n"
REGRESS = (
    f"kind: regress\n{HEAD}model: linear\noutcome: Pay\nfeatures: [Own]\n"
    "attributes:\n  Own: {party: bank, values: ['0', '1']}\n  Pay: {party: clinic, range: [0, 100]}\n"
)
CLUSTER = (
    f"kind: cluster\n{HEAD}clusters: 2\niterations: 1\nminimum: 1\nstandardise: false\n"
    "attributes:\n  Own: {party: bank, range: [0, 1]}\n  Pay: {party: clinic, range: [0, 100]}\n"
)


def guess(text, folder, pay, seed):
    """What the coefficients or centres say of the person's pay."""
    (folder / "clinic.csv").write_text(
        "ID,Pay\n" + "".join(f"p{at},{pay if at == 7 else 50}\n" for at in range(60))
    )
    result = simulate(load_job(folder / "job.yaml"), folder, folder / "out", seed=f"{seed}")
    if "coefficients" in result:
        [own] = result["coefficients"].values()
        return own["value"]
    return max(result["centres"])[1]


@pytest.mark.parametrize("text", [REGRESS, CLUSTER], ids=["regress", "cluster"])
def test_a_column_of_one_person_under_noise(text, tmp_path):
    (tmp_path / "bank.csv").write_text(
        "ID,Own\n" + "".join(f"p{at},{int(at == 7)}\n" for at in range(60))
    )
    (tmp_path / "job.yaml").write_text(f"{text}noise: {{epsilon: {EPSILON}}}\n")
    (tmp_path / "out").mkdir()
    told = [
        np.array([guess(text, tmp_path, pay, f"{pay} {seed}") for seed in range(RUNS)])
        for pay in (0, 100)
    ]
    best = max(
        abs(np.mean(told[0] <= cut) - np.mean(told[1] <= cut)) for cut in np.concatenate(told)
    )
    assert best < math.tanh(EPSILON / 2) + 0.6  # as much as so few runs may add at the best cut
