"""Fuzzers for every decoder of bytes that others wrote.

`decoders` lists what is fuzzed and what each decoder may answer: a value, or an error of its own kind.
`mutations` changes inputs. `fuzzing` gives them to a decoder, and keeps every input that made it answer in
a way not seen before in `corpus/`, from which later runs begin. `run` fuzzes for long (`make fuzz`), and
`counts` counts the inputs of all runs. `make test` replays the corpus and adds a few hundred new inputs for
each decoder.
"""
