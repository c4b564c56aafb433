"""Fuzzers for every decoder of bytes that others wrote.

`decoders` lists what is fuzzed and what each decoder may answer: a value, or an error of its own kind.
`mutations` changes inputs. `run` does it for long (`make fuzz`), adds up over runs, and keeps every input
that made a decoder answer in a way not seen before in `corpus/`, from which later runs begin. `make test`
replays the corpus and adds a few hundred new inputs a decoder.
"""
