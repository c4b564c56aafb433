"""`method: mondrian`: `anonymity.algorithms.mondrian`, in memory, on disk and on a Dask cluster."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from functools import partial
from typing import Any

from coterie.anonymity.algorithms.anonymized import Anonymized
from coterie.anonymity.algorithms.mondrian import Options, mondrian
from coterie.anonymity.algorithms.stored_recoding import StoredRelease, mondrian_stored
from coterie.anonymity.algorithms.width import WidthOptions, cut_by_width
from coterie.anonymity.models.audit import Released
from coterie.anonymity.specialization.specialize import suppression_limit
from coterie.anonymity.specialization.starting import start_nodes
from coterie.anonymity.table.stored import StoredTable
from coterie.anonymity.table.table import Table
from coterie.base.errors import UsageError
from coterie.jobs.file.document import Section
from coterie.jobs.kinds.integrate.cuts.verify_tree import Cutting, replay
from coterie.onetable.methods.generalizing.method import Generalizing, Room
from coterie.onetable.methods.mondrian.cluster_pieces import Cluster
from coterie.onetable.methods.mondrian.keys import read_options
from coterie.onetable.table_file import TableFile


class Mondrian(Generalizing):
    name = "mondrian"
    keys = ("rule", "boxes", "cuts")
    local = True
    on_clusters = True

    def options(self, section: Section, file: TableFile) -> Options | WidthOptions:
        return read_options(section, file.class_name)

    def options_of(self, class_name: str | None, given: Mapping[str, str]) -> Options:
        return Options()

    def anonymised(self, file: TableFile, table: Table, most: int) -> Anonymized:
        if isinstance(file.options, WidthOptions):
            return cut_by_width(table, file.requirements, most, file.options)
        return mondrian(table, file.requirements, most, file.options)

    def check_rows(self, file: TableFile, result: Any, table: Mapping[str, Released]) -> None:
        if isinstance(options := file.options, WidthOptions):
            attributes = [attribute for attribute in file.attributes if attribute.in_qid]
            starts = {
                a.name: [a.taxonomy.labels[node] for node in start_nodes(a.taxonomy, a.at_most)[1]]
                for a in attributes
                if a.at_most and a.taxonomy is not None
            }
            cutting = Cutting(
                attributes,
                file.requirements,
                options.score,
                options.class_name,
                options.tight,
                starts,
            )
            replay(cutting, result["tree"], table)

    def in_pieces(self, file: TableFile) -> bool:
        return isinstance(file.options, Options)

    def check_room(self, file: TableFile, wanted: int, memory: int) -> None:
        if not self.in_pieces(file):
            raise UsageError(
                f"{file.source}: with 'rule: width' the table is held in memory, where it takes about "
                f"{wanted / 1e9:.2g} GB and may take {memory / 1e9:.2g} GB; raise --memory, or leave "
                "'rule: width' out: mondrian's other rules work on disk"
            )

    def stored(self, file: TableFile, table: StoredTable, room: Room) -> StoredRelease:
        limit = suppression_limit(file.max_suppression, table.records)
        work = partial(
            mondrian_stored, table, file.requirements, limit, file.options, room.memory, room.folder
        )
        if room.compute is None:
            return work(None, room.most)
        with closing(Cluster(room.compute, room.memory)) as cluster:
            return work(cluster.pieces, room.most or cluster.most(table.records))


METHOD = Mondrian()
