"""Joint top-down specialization over columns that different parties hold.

Mohammed, Fung, Debbabi, "Anonymity meets game theory" (paper 1), Algorithm 1 and §§5 and 8.

In, at each party, in the joint order of the common records: its own columns, and the class and
sensitive columns that it holds. Public: the job, which has the taxonomies, the requirement and the
holders of all columns. Out, equal at every party: the sequence of specializations, the final cut,
the generalized value of every record, and the contribution of each party. The result equals that of
`anonymity.specialization.specialize.specialize` on the joined table, bit for bit: every party
refines the same partitions by the same codes, and a score depends on one attribute and the class
alone.

Adversary: semi-honest. A party learns about another party's column the generalized value of each
record (from instructions), which the released table shows too; the span of a numeric column whose
range the job leaves open, which is released too; and, in each round, the score and the attribute of
every party's best candidate (`hide_scores` hides these by a secure maximum). Whether a sensitive
column forbids a specialization (§8) is decided on shares (`conditions`). With
`conditions="holder"`, as in the paper, the holder of the column sees the instruction before it may
reject it, which is more than the release shows; docs/threat-model.md discusses that.

Every received message is checked: an instruction for another party's attribute or for a value not
in the cut, with a wrong length or with a code out of range, an instruction that violates the
requirement or is not beneficial, and a score that does not follow from the codes and the class:
each ends the job with an error that names the sender.

Messages, in order, after the class (`protocols.integration.class_labels`):
    announce   each party to all: the spans of its numeric attributes without range (if any)
    compare    three or more parties, each to all: digests of class and spans (`broadcast_check`)
    start      only with bounds on generalization: for every value above them, its holder to all: the
               instruction, after `propose` if there are conditions; digests of it as in `compare`
    then in rounds, until no party has a candidate:
    winner     `find_winner`: by default each party's best score and attribute, to all
    propose    only in jobs with conditions on sensitive columns: the messages of `conditions`; or, if
               holders judge, winner to all: the attribute; winner to each holder of a sensitive
               column concerned: the instruction; these to the winner: yes or no; winner to all: yes
               or no. After a no the next round begins
    population only in jobs with a population (`witness`): the messages of the witness, which may
               reject the candidate, too; it speaks before `announce` and after the last round, too
    instruct   winner to all who do not have it yet: attribute, value, split, score, one child code
               for each record that has this value, in the order of the leaf partitions, and whether
               one more code marks records that are left out (`max_suppression`)
    In turns (`Plan.turns`), and while scores do not depend on groups, a winner sends instruction
    after instruction as long as its next candidate beats all that the others have announced (these
    cannot grow until they win), and then 0. It is the same sequence in fewer rounds.
    With `Plan.refine` for columns, a second phase of such rounds follows, in which every value of
    the cut is a candidate again, with the score of discernibility, and contributions begin at 0.
    slack      only if the plan asks for it, after the last round: the messages of `slack`

Kept answers (`protocols.messaging.kept`): the records within the bounds, the class, and each
instruction or rejection, in the order of the rounds, before the next round begins. They are what
every party has been told, and the release shows no less. An attempt that goes on after an
interruption follows them without a message, and then announces, hides and judges scores with fresh
keys and masks; scores and candidates follow from the table, so that the same rounds come next. If
other rounds come next, a peer has brought other columns, whatever it committed to: the attempt is
refused before this party tells an instruction that differs from that of an earlier attempt, and when
it has heard another one (`telling`).

Cost, for p parties: 2 messages in sequence for each round (5 with conditions), or for each turn,
however long it is. The winner sends every other party ceil(log2 c) bits per record concerned, for c
children, and about 120 bytes; p (p - 1) scores of some 20 bytes are sent in each round. Operations:
counting and moving 4-byte numbers, O(records concerned) a round at each party. Memory: 4 bytes per
record besides the columns and the class, and some 100 bytes per leaf partition.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from coterie.anonymity.specialization.generalized import check_sizes, models_of
from coterie.anonymity.specialization.scores import COLUMNS
from coterie.anonymity.specialization.specialize import Labels, Specializer, suppression_limit
from coterie.anonymity.specialization.starting import StartedSpecializer
from coterie.anonymity.table.columns import Column
from coterie.base.arrays import Array
from coterie.base.errors import PeerError
from coterie.protocols.integration.class_labels import share_class
from coterie.protocols.integration.contributions import RecordContribution, record_nothing
from coterie.protocols.integration.plan import Outcome, Plan, Slack
from coterie.protocols.integration.rounds import Confirm, Rounds, TakesPart, always
from coterie.protocols.integration.scores import FindWinner, announce_scores
from coterie.protocols.integration.slack import tell_slack
from coterie.protocols.integration.spans import announce_spans, digests_of_announced
from coterie.protocols.integration.telling import Telling
from coterie.protocols.integration.witness import points_of_population
from coterie.protocols.messaging.broadcast_check import compare_digests
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.primitives.randomness import Random


def integrate(
    channel: Channel,
    plan: Plan,
    columns: Mapping[str, Column],
    labels: Mapping[str, Labels],
    records: int,
    rng: Random,
    *,
    find_winner: FindWinner = announce_scores,
    takes_part: TakesPart = always,
    confirm: Confirm | None = None,
    book: RecordContribution = record_nothing,
    left_out: int = 0,
    rows: Array | None = None,
) -> Outcome:
    """This party's part of the joint specialization.

    `columns` are its own attributes of the QIDs; `labels` has the class, if the party holds it, and
    its sensitive columns, by name. Both are in the joint order. `book` is called with each
    contribution of this party before it is sent, and with each contribution that it has received
    and checked. Bounds on generalization have left out `left_out` further records before (`bounds`).
    `rows` has the party's own row of each record, by which attempts are compared.
    """
    telling = Telling(np.arange(records) if rows is None else rows)
    check_sizes(plan.requirements, records)
    labels = {
        name: column.compact() if name in (plan.sensitive_holders or {}) else column
        for name, column in labels.items()
    }
    models_of(plan.requirements, labels)
    if plan.class_name is not None:
        own = labels.get(plan.class_name) if channel.me in plan.class_holders else None
        labels[plan.class_name] = share_class(
            channel, plan.class_holders, own, records, rng, telling
        )
    with channel.step("specialize"):
        if plan.witness is not None:
            columns = points_of_population(channel, plan, columns)
        trees = announce_spans(channel, plan, columns)
        classes = labels[plan.class_name] if plan.class_name is not None else None
        with channel.step("compare"):
            heard = digests_of_announced(plan, classes, trees)
            compare_digests(channel, plan.names, heard, "the class and the spans")
        engine = StartedSpecializer if plan.starts else Specializer
        table = engine(
            trees,
            columns,
            labels,
            plan.requirements,
            records,
            plan.class_name,
            plan.rule,
            suppression_limit(plan.max_suppression, records + left_out) - left_out,
        )
        run = Rounds(channel, plan, table, book, rng, telling)
        run.holders.judge_jointly(labels, rng)
        try:
            if isinstance(table, StartedSpecializer):
                run.start(table)
            run.all_rounds(find_winner, takes_part, confirm)
            first, refined = run.contributions, None
            if plan.refine == COLUMNS:
                run.refine()
                run.all_rounds(find_winner, takes_part, confirm)
                refined = run.contributions
            if run.asking is not None:
                run.asking.confirm()
        except PeerError as error:
            place = error.step or channel.failed_step
            reason = f"{error.reason}, in round {len(run.winners) + 1}"
            raise error.placed(place, reason) from error
        slack: list[Slack | None] = []
        if run.watch is not None:
            slack = tell_slack(channel, plan, table, run.watch.nearest, rng)
    return Outcome(table, run.winners, first, classes, refined, slack)
