"""`coterie perturb`: its file, its release, its page and its verification."""

from coterie.onetable.methods.method import OwnFile
from coterie.onetable.methods.perturb.keys import load_perturb_file
from coterie.onetable.methods.perturb.report import report_perturbed
from coterie.onetable.methods.perturb.run import perturb_file
from coterie.onetable.methods.perturb.verify_perturbed import verify_perturbed

METHOD = OwnFile(
    "perturb", "A table with noise", "One table, on whose values its holder has put noise.",
    load_perturb_file, perturb_file, report_perturbed, verify_perturbed,
)  # fmt: skip
