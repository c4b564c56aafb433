"""Fuzzes the decoders: `python -m tests.fuzz.run [--inputs N] [--seconds S] [NAME ...]`, or `make fuzz`.

Decoders take turns, each in a process of its own, since a fault of a library may end the process; two
processes run at once (`--jobs`). In the first round each has a few seconds. After it the turn is always
that of the decoder with the fewest inputs in all runs. How many these are is added up in `inputs.json`,
which is committed, and the random numbers go on from there, so that no run repeats an earlier one. An
input that makes a decoder answer in a new way is kept in the corpus. A decoder that breaks, ends its
process or does not come to an end is named with the file of the input and has no more turns, and the
command ends with 1.
"""

import argparse
import faulthandler
import gc
import logging
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tests import ROOT
from tests.fuzz.counts import count, counted
from tests.fuzz.decoders import DECODERS
from tests.fuzz.fuzzing import BrokenDecoderError, at_work, fuzz, keep, scratch

_MEMORY = 4 << 30  # bytes: a decoder that wants more has been talked into it
_PIECE = 20_000  # inputs after which they are counted, so that a crash loses few
_FIRST, _LATER = 5.0, 60.0  # seconds of a turn, without the start of the process
_MOST = 200_000  # inputs of a turn, so that a fast decoder does not run far ahead
_LATE = (
    60.0  # seconds of the processor, beyond its turn's, after which a decoder is thought to hang
)
_STUCK = 900.0  # seconds after the end of its turn when it is thought to wait for ever; a busy machine is slow


class Turns:
    """Whose turn it is. `inputs` are those that a decoder may have in this run."""

    def __init__(
        self,
        names: Sequence[str],
        inputs: int,
        seconds: float,
        had: Callable[[], dict[str, int]] = counted,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._lock = threading.Lock()
        self._had, self._clock = had, clock
        self._begun = {name: had().get(name, 0) for name in names}
        self._inputs = inputs
        self._end = clock() + seconds
        self._waiting = set(names)
        self._fresh = set(names)  # those that have had no turn

    def take(self) -> tuple[str, int, float] | None:
        """A decoder, and the inputs and the seconds of its turn; None if no more is to be done."""
        with self._lock:
            left = self._end - self._clock()
            had = self._had()
            due = self._fresh & self._waiting or self._waiting
            if left <= 0 or not due:
                return None
            name = min(sorted(due), key=lambda one: had.get(one, 0))
            seconds = _FIRST if name in self._fresh else _LATER
            self._fresh.discard(name)
            self._waiting.discard(name)
            inputs = self._inputs - (had.get(name, 0) - self._begun[name])
            return name, min(inputs, _MOST), min(seconds, left)

    def give_back(self, name: str) -> None:
        """The decoder may have another turn, if it has not had all its inputs."""
        with self._lock:
            if self._had().get(name, 0) - self._begun[name] < self._inputs:
                self._waiting.add(name)


def turn(name: str, command: Sequence[str], seconds: float) -> str:
    """Runs a decoder in another process, whose last argument is a folder; returns what went wrong."""
    with scratch() as folder:
        process = subprocess.Popen([*command, folder], cwd=ROOT)
        try:
            ended = process.wait(seconds + _STUCK)
            what = f"ended with {ended}" if ended not in (0, 1) else ""
            if ended == -signal.SIGXCPU:
                what = "did not come to an end"
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            ended, what = -1, "did not come to an end"
        data = at_work(Path(folder)) if what else None
    if data is not None:
        what += f"; the input is {keep(name, data)}"
    # With 1 the decoder has said itself what is wrong.
    return f"{name}: {what}" if what else f"{name}: broken" if ended else ""


def _work(turns: Turns, broken: list[str]) -> None:
    while (found := turns.take()) is not None:
        name, inputs, seconds = found
        alone = [sys.executable, "-m", "tests.fuzz.run", "--inputs", str(inputs)]
        wrong = turn(name, [*alone, "--seconds", str(seconds), name, "--alone"], seconds)
        if wrong:
            print(wrong, file=sys.stderr, flush=True)
            broken.append(name)
        else:
            turns.give_back(name)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz.run", description=(__doc__ or "").partition("\n\n")[2]
    )
    parser.add_argument("--inputs", type=int, default=1_000_000, help="at most, a decoder")
    parser.add_argument("--seconds", type=float, default=1500.0, help="at most, for all decoders")
    parser.add_argument("--jobs", type=int, default=2, help="processes at once")
    parser.add_argument("--alone", metavar="FOLDER", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*", metavar="NAME", help="of a decoder")
    options = parser.parse_args()
    if unknown := sorted(set(options.names) - set(DECODERS)):
        parser.error(f"no decoder is called {unknown[0]}; there are {', '.join(DECODERS)}")
    if options.alone is not None:
        return _alone(options.names[0], options.inputs, options.seconds, options.alone)
    names = options.names or list(DECODERS)
    turns, broken = Turns(names, options.inputs, options.seconds), []
    workers = [threading.Thread(target=_work, args=(turns, broken)) for _ in range(options.jobs)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for name, inputs in sorted(counted().items(), key=lambda one: one[1]):
        print(f"{inputs:>12,} {name}")
    return 1 if broken else 0


def _alone(name: str, inputs: int, seconds: float, folder: Path) -> int:
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    most = int(seconds + _LATE)
    resource.setrlimit(resource.RLIMIT_CPU, (most, most))
    logging.disable()  # decoders that find something tell the operator in the log
    gc.freeze()  # garbage is not looked for among the modules
    begun, used = time.monotonic(), time.process_time()
    done, total = 0, counted().get(name, 0)
    try:
        while done < inputs and (left := seconds - (time.monotonic() - begun)) > 0:
            more = fuzz(name, min(_PIECE, inputs - done), left, total, True, folder)
            done, total = done + more, count(name, more)
    except BrokenDecoderError as error:
        print(error, file=sys.stderr)
        return 1
    rate = done / (time.process_time() - used)
    print(
        f"{name}: {done:,} inputs in {time.monotonic() - begun:.0f} s, {rate:,.0f} in a second of the "
        f"processor, {total:,} in all",
        flush=True,
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
