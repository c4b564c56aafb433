"""Nothing is sent, and nothing opened, that neither passes the door nor is listed with its reason.

The source is read, not run: a function that sends something, or calls a primitive that opens what
its caller asks for, must contain `channel.open(OPENING, …)` with a declared opening, or stand in
`HIDDEN` with the reason why what it sends tells nothing, or in `PASSED_ON` with who opens it.
"""

import ast
from pathlib import Path

import pytest

from tests import ROOT

SENDING = {"send", "broadcast", "send_array", "transmit"}
# Primitives that give somebody a value in the clear, whatever it means.
OPENING = {
    "open_shares",
    "open_from",
    "open_to",
    "minindex",
    "reveal",
    "argmax",
    "modular",
    "big",
    "fixed",
    "totals",
    "union",
    "tell",
    "_run",
    "_choose",
    "intersect",
    "ring_intersect",
    "vole_intersect",
    "multiparty_intersect",
    "scalar_products",
}
REVEALS = {"both", "garbler", "evaluator"}

# What these send is uniform, or hidden by an assumption, whatever the secrets are.
HIDDEN = {
    "protocols/circuits/garbling.py": {
        "Garbler.run": "tables and labels of wires",
        "Evaluator.run": "the digest of a public circuit, and transfers",
    },
    "protocols/integration/class_labels.py": {
        "_count_at_first": "points encrypted under a fresh key; the count is opened in _compare",
        "_count_at_other": "points encrypted and shuffled",
    },
    "protocols/integration/sensitive/proposer_and_holder.py": {
        "Pair.offer": "numbers of the sensitive column, masked by pads of transfers",
    },
    "protocols/intersection/multiparty_intersect.py": {
        "_share": "random keys of pairs",
        "_send_hint": "a key-value store of masked words",
        "_lead_by_group": "blinded points",
        "_help_by_group": "blinded points under another key",
    },
    "protocols/intersection/vole_function.py": {
        "FunctionReceiver.fix": "words under random products, a seed, and a random part",
        "FunctionSender.set_up": "the commitment to a random part",
        "FunctionSender.fix": "a random part",
    },
    "protocols/multiparty/gmw.py": {
        "Gmw.prepare": "corrections of random products",
        "Gmw.multiply": "shares masked by prepared random bits",
    },
    "protocols/multiparty/secure_sum.py": {"SecureSum.__init__": "random seeds"},
    "protocols/numbers/inner_product.py": {
        "PaillierEngine._offer": "ciphertexts",
        "PaillierEngine._combine": "re-randomized ciphertexts of masked sums",
    },
    "protocols/numbers/logarithm.py": {"_agree": "settings, which are public"},
    "protocols/numbers/multiplication.py": {"send_products": "masked words of transfers"},
    "protocols/numbers/paillier.py": {"announce_key": "a public key"},
    "protocols/numbers/scalar_product.py": {
        "_agree": "sizes and ranges, which are public",
        "TransferProducts._offer": "masked words of transfers",
    },
    "protocols/numbers/scaling.py": {"scale_autonomously": "shares under a mask of 40 bits more"},
    "protocols/numbers/shares.py": {"share_out": "a uniform share"},
    "protocols/statistics/grouped_sums.py": {"offer": "vectors masked by pads of punctured trees"},
    "protocols/statistics/shared_counts.py": {
        "_offer": "rows masked by transfers",
        "share_out": "uniform shares",
    },
    "protocols/statistics/tree_predictions.py": {"_zero_share": "random masks"},
    "protocols/transfer/base_transfer.py": {
        "send_keys": "points of the group",
        "receive_keys": "points of the group that hide the choices",
    },
    "protocols/transfer/oblivious_transfer.py": {
        "Sender.send": "messages, of which the receiver can unmask its choice",
        "Sender.multiply_bits": "words of which the receiver can unmask its choice",
        "Receiver._rows": "choices under random bits",
    },
    "protocols/transfer/punctured_leaves.py": {
        "own_leaves": "sums under keys of base transfers, and material of a check",
    },
    "protocols/transfer/silent.py": {"ChooserTransfers._leaves": "the seed of a public code"},
    "protocols/transfer/single_points.py": {
        "PointOwner.open": "sums of pseudorandom nodes under blocks of correlated transfers",
        "PointOwner.answer": "a digest of what the peer knows if all is right",
        "PointFinder.ask": "a sum over secret places, under an element that is used for nothing else",
    },
    "protocols/transfer/small_field.py": {
        "ChooserRows._fill": "sums of streams that the peer does not know, and a check of them",
    },
    "protocols/transfer/vole.py": {"VoleReceiver.receive": "the seed of a public code"},
}

# These open what their caller asks for, or are part of what it opens; it stands at the door.
PASSED_ON = {
    "protocols/integration/sensitive/joint_verdicts.py": {
        "JointVerdicts.conjunction": "conditions and judged_cuts open the verdicts",
    },
    "protocols/circuits/garbling.py": {
        "Garbler._reveal": "whoever runs a circuit",
        "Evaluator._reveal": "whoever runs a circuit",
    },
    "protocols/circuits/half_gates.py": {
        "Worker.garble": "nobody: computes labels in this process",
        "Worker.evaluate": "nobody: computes labels in this process",
    },
    "protocols/circuits/minindex.py": {
        "minindex": "its caller",
        "minimum": "nobody: positions and numbers less a random mask",
    },
    "protocols/integration/sensitive/proposer_and_holder.py": {
        "Pair._garbled": "SharedConditions._told; all but the last circuit give shares",
    },
    "protocols/integration/dka.py": {
        "dka": "nobody: a baseline to be measured, which no kind of job uses",
        "_compare": "nobody: a baseline",
        "_answer": "nobody: a baseline",
    },
    "protocols/integration/instructions.py": {
        "Exchange.give": "Rounds._perform and Holders.propose",
    },
    "protocols/integration/rounds.py": {
        "Rounds.turn": "_perform, which every instruction passes; 0 says that a turn ends",
    },
    "protocols/intersection/confirm.py": {"announce": "intersect"},
    "protocols/intersection/multiparty_intersect.py": {
        "_same_list": "intersect: a digest of what all know"
    },
    "protocols/intersection/vole_intersect.py": {"_send": "intersect", "_receive": "intersect"},
    "protocols/intersection/ring.py": {"ring_intersect": "intersect", "_compare": "intersect"},
    "protocols/messaging/channel.py": {"Channel.send": "", "Channel.broadcast": ""},
    "protocols/messaging/stream.py": {"send_array": ""},
    "protocols/messaging/wrappers.py": {
        "Wrapper.transmit": "",
        "Metered.transmit": "",
    },
    "protocols/multiparty/coin_toss.py": {"toss": "its caller; commitments hide the strings"},
    "protocols/multiparty/gmw.py": {"Gmw.reveal": "its caller"},
    "protocols/multiparty/secure_maximum.py": {
        "SecureMaximum.argmax": "its caller",
        "argmax": "its caller",
    },
    "protocols/multiparty/secure_sum.py": {
        "SecureSum.modular": "its caller",
        "SecureSum.big": "its caller",
        "SecureSum.fixed": "its caller",
    },
    "protocols/multiparty/set_union.py": {"union": "its caller"},
    "protocols/numbers/logarithm.py": {
        "_phase_one": "nobody: outputs less a random mask, and shares of flags",
        "Session.run": "its caller",
    },
    "protocols/numbers/scalar_product.py": {
        "scalar_products": "its caller",
        "TransferProducts.shares": "its caller",
        "TransferProducts.to_many": "its caller",
    },
    "protocols/numbers/scaling.py": {"scale_exactly": "nobody: outputs less a random mask"},
    "protocols/numbers/shares.py": {"open_shares": "its caller", "open_to": "its caller"},
    "protocols/models/exact_sums.py": {"ExactSums.totals": "its caller"},
    "protocols/statistics/hidden_counts.py": {
        "HiddenCounts._run": "leaves",
        "HiddenCounts.added": "its caller",
        "HiddenCounts.decided": "its caller",
        "HiddenCounts.tell": "its caller",
    },
    "protocols/statistics/hidden_scores.py": {"HiddenScores._choose": "split and best"},
    "protocols/statistics/predictions.py": {"_least": "nobody: shares; _told opens the classes"},
    "protocols/statistics/small_factorials.py": {
        "corrections": "nobody: outputs less a random mask"
    },
    "jobs/matching/common_records.py": {"line_up": "intersect opens them itself"},
}


def called(node: ast.Call) -> str:
    function = node.func
    if isinstance(function, ast.Attribute):
        numpy = isinstance(function.value, ast.Name) and function.value.id == "np"
        return "" if numpy else function.attr
    if isinstance(function, ast.Name) and not function.id.startswith("_"):
        return function.id
    return ""


def reveals(node: ast.Call) -> bool:
    """Whether a call runs a circuit some of whose outputs are revealed."""
    if called(node) != "run":
        return False
    values = [*node.args, *(k.value for k in node.keywords)]
    return any(
        isinstance(part, ast.Constant) and part.value in REVEALS
        for value in values
        for part in ast.walk(value)
    ) or any(isinstance(value, ast.Name) and value.id == "reveal" for value in values)


def functions(node: ast.AST, place: str = ""):
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            name = f"{place}.{child.name}".lstrip(".")
            if isinstance(child, ast.FunctionDef):
                yield name, child
            else:
                yield from functions(child, name)


def declared_names(tree: ast.Module) -> set[str]:
    """The openings that a module declares, or imports (in capitals)."""
    found = set()
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            if called(node.value) == "declare":
                found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.ImportFrom):
            found |= {alias.name for alias in node.names if alias.name.isupper()}
    return found


def passes_door(node: ast.AST, names: set[str]) -> bool:
    return any(
        isinstance(call, ast.Call)
        and called(call) == "open"
        and call.args
        and isinstance(call.args[0], ast.Name)
        and call.args[0].id in names
        for call in ast.walk(node)
    )


def modules() -> list[Path]:
    """All but those that read results again, which have no channel."""
    found = [path for room in ("protocols", "jobs") for path in sorted((ROOT / room).rglob("*.py"))]
    return [path for path in found if not path.name.startswith(("verify", "release_file"))]


def suspects(path: Path) -> set[str]:
    """Functions that send or open something without passing the door."""
    tree = ast.parse(path.read_text())
    names = declared_names(tree)
    found = set()
    for name, node in functions(tree):
        calls = [call for call in ast.walk(node) if isinstance(call, ast.Call)]
        tells = any(called(call) in SENDING | OPENING or reveals(call) for call in calls)
        if tells and not passes_door(node, names):
            found.add(name)
    return found


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_whatever_is_sent_or_opened_passes_the_door_or_is_hidden(path):
    place = str(path.relative_to(ROOT))
    listed = {**HIDDEN.get(place, {}), **PASSED_ON.get(place, {})}
    assert suspects(path) == set(listed), f"{place}: declare an opening, or say why it is hidden"


# Messages of a party's server that say something about a job or about its data.
ANSWERS = {"Check", "Decision", "Delivered", "Description", "Event", "Explanation", "Farewell",
           "FileChunk", "JobSummary", "Received", "Reserved"}  # fmt: skip
# Functions that make one and tell nothing that has not passed the door, or tell it to the operator.
NOT_TOLD = {
    "party/service.py": {
        "JobService.Explain": "the operator alone",
        "JobService.Prune": "the operator alone",
        "JobService.RemoveModel": "the operator alone",
        "JobService.WouldPrune": "the operator alone",
        "JobService.List": "the operator alone",
        "JobService.Fetch": "files that the job has released through the door",
    },
    "party/records.py": {"Book.newest": "an event that was made before"},
    "party/queue/reservations.py": {"Reservations._ask": "this party itself, of an older server"},
    "party/receptions.py": {"Receptions._ask": "integrate: digest of the finished table"},
    "transport/peers.py": {"PeerService._compared": "integrate: digest of the finished table"},
    "transport/session.py": {
        "Session.finish": "an empty farewell: all went well",
        "read_farewell": "this party itself, of a peer's unreadable words",
    },
}


def servers() -> list[Path]:
    return [path for room in ("party", "transport") for path in sorted((ROOT / room).rglob("*.py"))]


def made(node: ast.AST, tree: ast.Module) -> set[str]:
    """The messages of `protos` that a function makes."""
    imported = {
        alias.name
        for item in tree.body
        if isinstance(item, ast.ImportFrom) and str(item.module).startswith("coterie.protos")
        for alias in item.names
    }
    found = set()
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and (name := called(call)) in ANSWERS:
            function = call.func
            of_protos = isinstance(function, ast.Attribute) and (
                isinstance(function.value, ast.Name) and function.value.id == "pb"
            )
            if of_protos or (isinstance(function, ast.Name) and name in imported):
                found.add(name)
    return found


def tells(node: ast.AST, names: set[str]) -> bool:
    return any(
        isinstance(call, ast.Call)
        and called(call) == "tell"
        and isinstance(call.args[0], ast.Name)
        and call.args[0].id in names
        for call in ast.walk(node)
    )


@pytest.mark.parametrize("path", servers(), ids=lambda path: str(path.relative_to(ROOT)))
def test_whatever_a_server_answers_passes_the_door_or_is_for_its_operator(path):
    tree = ast.parse(path.read_text())
    names = declared_names(tree)
    found = {
        name
        for name, node in functions(tree)
        if made(node, tree) and not tells(node, names)
    }  # fmt: skip
    place = str(path.relative_to(ROOT))
    assert found == set(NOT_TOLD.get(place, {})), (
        f"{place}: declare what is told (party/answers.py)"
    )


def test_every_declared_opening_is_opened_somewhere():
    declared, opened = {}, set()
    for path in [*modules(), *servers()]:
        tree = ast.parse(path.read_text())
        for name in declared_names(tree):
            own = any(isinstance(n, ast.Assign) and name in {getattr(t, "id", "") for t in n.targets}
                      for n in tree.body)  # fmt: skip
            if own and "declare(" in path.read_text():
                declared[name] = path
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and called(call) in ("open", "tell") and call.args:
                opened.add(getattr(call.args[0], "id", ""))
    assert set(declared) <= opened, {n: p.name for n, p in declared.items() if n not in opened}


def test_listed_files_exist():
    for place in (*HIDDEN, *PASSED_ON):
        assert (ROOT / place).exists(), place
