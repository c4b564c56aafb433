"""`method: samarati`."""

from coterie.anonymity.algorithms.samarati import samarati
from coterie.onetable.methods.generalizing.method import Plain

METHOD = Plain("samarati", samarati, whole_columns=True)
