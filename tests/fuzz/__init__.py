"""Fuzzers for every decoder of bytes that others wrote.

`decoders` lists what is fuzzed and what each decoder may answer: a value, or an error of its own kind.
`mutations` changes inputs. `fuzzing` gives them to a decoder, and keeps those that made it answer in a way
not seen before in `corpus/`, from which later runs begin. `run` does it for long (`make fuzz`), and `counts`
adds up over runs. `make test` replays the corpus and adds a few hundred new inputs a decoder.
"""
