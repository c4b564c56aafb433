"""`method: cluster`."""

from coterie.anonymity.algorithms.cluster import cluster
from coterie.onetable.methods.generalizing.method import Plain

METHOD = Plain("cluster", cluster, local=True)
