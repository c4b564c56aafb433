"""`coterie hide-rules`: its file, its release, its page and its verification."""

from coterie.onetable.methods.hide_rules.keys import load_hide_file
from coterie.onetable.methods.hide_rules.report import report_hidden
from coterie.onetable.methods.hide_rules.run import hide_file
from coterie.onetable.methods.hide_rules.verify_hidden_rules import verify_hidden
from coterie.onetable.methods.method import OwnFile

METHOD = OwnFile(
    "hide-rules", "A table without given rules", "One table, in which its holder has hidden some rules.",
    load_hide_file, hide_file, report_hidden, verify_hidden,
)  # fmt: skip
