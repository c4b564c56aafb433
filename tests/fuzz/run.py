"""Fuzzes the decoders: `python -m tests.fuzz.run [--inputs N] [--seconds S] [NAME ...]`, or `make fuzz`.

Each decoder runs in a process of its own, since a fault of a library may end the process. How many
inputs a decoder has had is added up over runs in `inputs.json`, which is committed, and the random
numbers go on from there, so that no run repeats an earlier one. An input that makes a decoder answer
in a new way is kept in the corpus. A decoder that breaks is named with the file of the input, and the
command ends with 1.
"""

import argparse
import faulthandler
import hashlib
import json
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests import ROOT
from tests.fuzz.decoders import DECODERS, Decoder
from tests.fuzz.mutations import mutated

CORPUS = Path(__file__).with_name("corpus")
COUNTED = Path(__file__).with_name("inputs.json")
_MEMORY = 4 << 30  # bytes: a decoder that wants more has been talked into it
_KEPT = 60  # inputs of a decoder, so that the corpus stays small
_SLOW = 2.0  # seconds of the processor for one input of at most 64 KiB


class BrokenDecoderError(AssertionError):
    """A decoder answered with something that it must not answer with."""


def corpus(name: str) -> list[bytes]:
    folder = CORPUS / name.replace(" ", "-")
    return [path.read_bytes() for path in sorted(folder.glob("*"))]


def answer(decoder: Decoder, data: bytes, folder: Path) -> str:
    """How the decoder takes the input: `ok`, or its error without the parts that vary."""
    begun = time.process_time()
    try:
        decoder.decode(data, folder)
        said = "ok"
    except decoder.errors as error:
        text = re.sub(r"'[^']*'|\"[^\"]*\"|\S*\d\S*|\S*:", "#", str(error))
        said = " ".join([type(error).__name__, *text.split()[:6]])
    if time.process_time() - begun > _SLOW:
        raise BrokenDecoderError(f"took {time.process_time() - begun:.1f} s for {len(data)} bytes")
    return said


def fuzz(name: str, inputs: int, seconds: float, begin: int, keep: bool) -> int:
    """Runs the decoder on its corpus and on `inputs` new inputs; returns how many it had."""
    decoder = DECODERS[name]
    pool = [*decoder.seeds(), *corpus(name)]
    seen: set[str] = set()
    end = time.monotonic() + seconds
    with tempfile.TemporaryDirectory(prefix="coterie-fuzz-") as scratch:
        folder = Path(scratch)
        for data in pool:
            seen.add(_tried(decoder, name, data, folder))
        done = 0
        while done < inputs and time.monotonic() < end:
            chance = random.Random(f"{name} {begin + done}")
            data = mutated(chance.choice(pool), pool, chance)
            said = _tried(decoder, name, data, folder)
            if said not in seen:
                seen.add(said)
                pool.append(data)
                if keep and len(seen) < _KEPT:
                    _keep(name, data)
            done += 1
    return done


def _tried(decoder: Decoder, name: str, data: bytes, folder: Path) -> str:
    try:
        return answer(decoder, data, folder)
    except Exception as error:
        path = _keep(name, data)
        raise BrokenDecoderError(
            f"{name}: {type(error).__name__}: {error}; the input is {path}"
        ) from error


def _keep(name: str, data: bytes) -> Path:
    folder = CORPUS / name.replace(" ", "-")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / hashlib.sha256(data).hexdigest()[:16]
    path.write_bytes(data)
    return path


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=600.0, help="at most, a decoder")
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    names = options.names or list(DECODERS)
    if options.alone:
        faulthandler.enable()
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        return _alone(names[0], options.inputs, options.seconds)
    failed = 0
    for name in names:
        command = [
            sys.executable,
            "-m",
            "tests.fuzz.run",
            "--alone",
            "--inputs",
            str(options.inputs),
        ]
        done = subprocess.run(
            [*command, "--seconds", str(options.seconds), name], cwd=ROOT, check=False
        )
        if done.returncode:
            print(f"{name}: ended with {done.returncode}", file=sys.stderr)
            failed = 1
    return failed


def counted() -> dict[str, int]:
    """How many inputs each decoder has had in all runs."""
    found: dict[str, int] = json.loads(COUNTED.read_text()) if COUNTED.exists() else {}
    return found


def _alone(name: str, inputs: int, seconds: float) -> int:
    before = counted().get(name, 0)
    begun = time.monotonic()
    done = 0
    try:
        # In pieces, so that a crash of the process loses little of the count.
        while done < inputs and (left := seconds - (time.monotonic() - begun)) > 0:
            done += fuzz(name, min(20_000, inputs - done), left, before + done, keep=True)
            COUNTED.write_text(
                json.dumps({**counted(), name: before + done}, indent=1, sort_keys=True) + "\n"
            )
    except BrokenDecoderError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{name}: {done:,} inputs in {time.monotonic() - begun:.0f} s, {before + done:,} in all")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
