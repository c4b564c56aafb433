"""A benchmark's result has the load of the machine, as far as the system gives it."""

import pytest

from coterie.bench.saved_results.surroundings import Moment, now, sentence, since


def processors(folder, *ticks, group=None, enabled=1):
    """A folder like /proc of a system with these ticks of user, nice, system, idle and so on."""
    (folder / "self").mkdir(parents=True, exist_ok=True)
    (folder / "sys/kernel").mkdir(parents=True, exist_ok=True)
    (folder / "stat").write_text(f"cpu  {' '.join(map(str, ticks))}\ncpu0 1 2 3\n")
    if group is not None:
        (folder / "self/autogroup").write_text(f"/autogroup-7 nice {group}\n")
        (folder / "sys/kernel/sched_autogroup_enabled").write_text(f"{enabled}\n")
    return folder


def test_what_other_programs_used_is_what_was_busy_without_the_program_itself(tmp_path):
    own = now().own
    proc = processors(tmp_path, 10**6, 0, 0, 10**6, 0, 0, 0, 0, 0, 0, group=-20)
    later = now(proc)
    # Half of the time that all processors had since was busy, and this program used next to nothing.
    begun = Moment(1.25, own, later.busy - 5_000, later.total - 10_000)
    found = since(begun, proc)
    assert found["others"] == pytest.approx(0.5, abs=0.02)
    assert (found["load_at_start"], found["group_nice"]) == (1.2, -20)


def test_what_a_system_does_not_tell_is_left_out(tmp_path):
    found = since(now(tmp_path), tmp_path)
    assert set(found) == {"load_at_start", "load_at_end", "nice"}


def test_the_group_says_nothing_where_the_system_does_not_schedule_by_groups(tmp_path):
    proc = processors(tmp_path, *[1] * 10, group=-20, enabled=0)
    assert "group_nice" not in since(now(proc), proc)


@pytest.mark.parametrize(
    ("nice", "group", "priority"),
    [
        (0, None, "ordinary"),
        (0, 0, "ordinary"),
        (5, 0, "nice 5"),
        (0, -20, "that of a scheduling group of nice -20"),
        (5, 10, "nice 5 in a scheduling group of nice 10"),
    ],
)
def test_the_conditions_are_one_sentence(nice, group, priority):
    measured = {"load_at_start": 0.4, "load_at_end": 2.1, "others": 0.12, "nice": nice}
    if group is not None:
        measured["group_nice"] = group
    assert sentence(measured) == (
        "The load was 0.4 at the start and 2.1 at the end, other programs used 12% of the "
        f"processors, and the priority was {priority}."
    )


def test_a_result_without_conditions_has_no_sentence_of_them():
    assert sentence({"load": 3.0}) == ""
