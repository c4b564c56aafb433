"""`method: datafly`."""

from coterie.anonymity.algorithms.datafly import datafly_table
from coterie.onetable.methods.generalizing.method import Plain

METHOD = Plain("datafly", datafly_table, whole_columns=True)
