"""Tables of the benchmarks of protocols: what each writes of a saved result."""

from __future__ import annotations

from typing import Any

from coterie.bench.saved_results.figures import shown
from coterie.bench.written_tables.form import spent_cells, table, used_cells


def fair_argmax(result: dict[str, Any]) -> str:
    rows = []
    for row in result["rows"]:
        bound = "more than " if "gave_up" in row["mpyc_seconds"] else ""
        for who, way in (("coterie", "total"), ("mpyc", "arrays")):
            took = shown(row[f"{who}_seconds"][way], " s")
            rows.append(
                [
                    f"{row['parties']} parties: " + ("MPyC" if who == "mpyc" else "ours"),
                    bound + took if who == "mpyc" else took,
                    shown(row["coterie_seconds"]["ahead"], " s") if who == "coterie" else "",
                    shown(row.get(f"{who}_cpu_seconds", {}).get(way), " s"),
                    shown(row.get(f"{who}_sent_bytes", {}).get(way)),
                    shown(row[f"{who}_seconds"].get("single"), " s"),
                    bound + shown(row["times_faster_batch"]) if who == "coterie" else "",
                    shown(row["parties"] - 1 if who == "coterie" else row["mpyc_tolerates"]),
                ]
            )
    head = [f"maxima of {shown(result['rows'][0]['batch'])}", "seconds", "of which ahead",
            "processor", "bytes sent", "one alone", "times faster",
            "colluding parties resisted"]  # fmt: skip
    return table(head, rows)


def fair_rounds(result: dict[str, Any]) -> str:
    seconds = result["hide_scores_3_parties"]
    spent = result.get("hide_scores_3_parties_spent", {})
    rows = [
        [name, shown(seconds[key], " s"), *used_cells(spent.get(key, {}))]
        for key, name in (
            ("first_round", "the first round, base transfers and loading included"),
            ("hidden_round", "a round with `hide_scores`"),
            ("open_round", "a round with open scores"),
        )
    ]
    return table(["three parties", "seconds", "processor", "bytes sent"], rows)


def garbling_speed(result: dict[str, Any]) -> str:
    sizes, ours, rate = result["sizes"], result["coterie"], result["a_second"]
    gates = sizes["instances"] * result["circuit"]["and"]
    rows = [
        [f"{shown(gates)} AND gates of {shown(sizes['instances'])} products of 32 bits",
         *spent_cells(ours["instances"]), shown(rate["instances"])],
        [f"{shown(sizes['comparisons'])} comparisons of 32 bits", *spent_cells(ours["comparisons"]),
         shown(rate["comparisons"])],
        ["the same by MPyC, three parties", *spent_cells(result["mpyc"]["comparisons"]), ""],
        ["one comparison", *spent_cells(ours["comparison"]), ""],
        ["the same by MPyC, three parties", *spent_cells(result["mpyc"]["single"]), ""],
    ]  # fmt: skip
    rows += [
        [f"{shown(sizes['transfers'])} {kind}", *spent_cells(ours[kind]), shown(rate[kind])]
        for kind in ("correlated transfers", "random transfers", "bit transfers")
    ]
    rows += [
        [f"{shown(sizes['products'])} products modulo 2^64", *spent_cells(ours["products"]),
         shown(rate["products"])],
        ["the base transfers of a session", *spent_cells(ours["base transfers"]), ""],
    ]  # fmt: skip
    return table(["two parties", "seconds", "processor", "bytes sent", "a second"], rows)


def logarithm_times(result: dict[str, Any]) -> str:
    ours, theirs = result["coterie"], result["mpyc"]
    count = shown(ours["transfer"]["batch"]["count"])
    entries = [
        ("one by transfer", ours["transfer"]["one"]),
        ("one by Paillier", ours["paillier"]["one"]),
        ("one by MPyC's arrays", theirs["one"]),
        (f"{count} by transfer, each", ours["transfer"]["batch"]),
        (f"{count} by Paillier, each", ours["paillier"]["batch"]),
        (f"{count} by the quick base-2 variant, each", ours["quick_base_2"]),
        (f"{count} by MPyC's arrays, each", theirs["batch"]),
    ]
    rows = [
        [name, shown(e["online_ms_each"], " ms"), shown(e["online_cpu_ms_each"], " ms"),
         shown(e["whole_ms_each"], " ms"), shown(e["sent_bytes_each"])]
        for name, e in entries
    ]  # fmt: skip
    for name, entry in (
        ("a session by transfer", ours["transfer"]["set_up"]),
        ("a session by Paillier", ours["paillier"]["set_up"]),
        ("a new key of Paillier", ours["key"]),
    ):
        spent = {
            key: _thousandfold(entry[f"{key}seconds"])
            for key in ("", "cpu_")
        }  # fmt: skip
        rows.append([name, "", shown(spent["cpu_"], " ms"), shown(spent[""], " ms"),
                     shown(entry["sent_bytes"])])  # fmt: skip
    bits = f"{result['bits']} bits, {result['terms']} terms"
    head = [bits, "online", "processor, online", "offline and online", "bytes sent"]
    return table(head, rows)


def _thousandfold(figure: Any) -> Any:
    if isinstance(figure, dict):
        return {key: 1e3 * value for key, value in figure.items()}
    return 1e3 * figure


def logarithm_paillier(result: dict[str, Any]) -> str:
    found = result["paillier"]
    names = {
        "encrypt_public_half": "encrypt, `half`, anyone",
        "encrypt_owner_full": "encrypt, `full`, the owner",
        "encrypt_public_full": "encrypt, `full`, anyone",
        "encrypt_with_prepared_randomizers": "encrypt, randomizers prepared",
        "decrypt_on_two_threads": "decrypt, on two threads at once",
        "add": "add",
    }
    rows = [
        [name, shown(found[key].get("a_second", found[key].get("a_second_and_core"))),
         shown(found[key]["times_phe"])]
        for key, name in names.items()
    ]  # fmt: skip
    head = [f"{shown(result['key_bits'])} bits", "a second and core", "times phe"]
    return table(head, rows)


def logarithm_gates(result: dict[str, Any]) -> str:
    rows = [
        [f"{row['bits']} bits, {row['terms']} terms",
         *(shown(row["with_60_bit_shares"][gate]) for gate in ("and", "xor", "not")),
         shown(row["paper"]["gates"]), shown(row["exact_scaling"]["and"])]
        for row in result["gates"]
    ]  # fmt: skip
    head = ["circuit of phase one", "AND", "XOR", "NOT", "paper, all gates", "AND of exact scaling"]
    return table(head, rows)


def scalar_products_ways(result: dict[str, Any]) -> str:
    plain = result["phe_plainly_seconds_extrapolated"]["total"]
    rows = [["phe used plainly, extrapolated", "", shown(plain, " s"), "", ""]]
    for way, name in (("transfer", "transfers"), ("paillier", "Paillier")):
        found = result[way]
        rows.append([f"{name}, online", *spent_cells(found["online"]),
                     shown(found["times_faster_online"])])  # fmt: skip
        rows.append([f"{name}, set-up and offline included", *spent_cells(found["whole"]),
                     shown(found["times_faster"])])  # fmt: skip
    what = f"{shown(result['products'])} products over {shown(result['records'])} records"
    return table([what, "seconds", "processor", "bytes sent", "times faster than phe"], rows)


def channel_rates(result: dict[str, Any]) -> str:
    ways = [("in memory", result["memory"]), ("gRPC", result["plain"]), ("mTLS", result["mtls"])]
    entries = [
        ("messages of 64 bytes a second", "messages_per_second", ""),
        ("bare grpcio", "grpcio_messages_per_second", ""),
        ("ratio", "messages_ratio", ""),
        ("processor seconds for 1,000", "messages_cpu_seconds_per_1000", " s"),
        ("bare grpcio", "grpcio_messages_cpu_seconds_per_1000", " s"),
        ("megabytes a second of arrays of 1 MiB", "megabytes_per_second", ""),
        ("bare grpcio, bytes that are counted", "grpcio_megabytes_per_second", ""),
        ("ratio", "stream_ratio", ""),
        ("bare grpcio, arrays to bytes and back", "grpcio_arrays_megabytes_per_second", ""),
        ("ratio", "arrays_ratio", ""),
        ("bare grpcio, the way the channel streams", "grpcio_collected_megabytes_per_second", ""),
        ("ratio", "collected_ratio", ""),
        ("processor seconds for 1 GB", "stream_cpu_seconds_per_gigabyte", " s"),
        ("bare grpcio, bytes that are counted", "grpcio_stream_cpu_seconds_per_gigabyte", " s"),
        ("bare grpcio, arrays to bytes and back", "grpcio_arrays_cpu_seconds_per_gigabyte", " s"),
    ]
    rows = [[name, *(shown(way.get(key), unit) for _, way in ways)] for name, key, unit in entries]
    return table(["", *(name for name, _ in ways)], rows)


def dka_growth(result: dict[str, Any]) -> str:
    keys = ["records", "rounds", "encryptions_per_round", "seconds", "cpu_seconds", "sent_bytes"]
    head = ["records", "rounds", "encryptions a round", "seconds", "processor", "bytes sent"]
    return table(head, [[shown(entry.get(key)) for key in keys] for entry in result["growth"]])


def conditions_models(result: dict[str, Any]) -> str:
    keys = ["model", "proposals", "median_seconds", "largest_seconds", "first_seconds"]
    head = ["model", "proposals", "seconds a proposal", "the largest", "the first, with set-up"]
    entries = result["models"]
    return table(head, [[e["model"], *(shown(e.get(k)) for k in keys[1:])] for e in entries])


def transfers_code(result: dict[str, Any]) -> str:
    keys = ("n", "k", "t", "hybrid_bits", "sub_code_bits")
    rows = [[row["set"], *(shown(row[key]) for key in keys)] for row in result["code"]]
    return table(["set", "outputs", "secret", "errors", "hybrid", "sub-code"], rows)


def transfers_speed(result: dict[str, Any]) -> str:
    keys = [f"{way}_{what}" for what in ("nanoseconds", "bytes") for way in ("checked", "silent")]
    rows = [
        [shown(row["transfers"]), *(shown(row[key]) for key in keys), _break_even(row)]
        for row in result["speed"]
    ]
    head = ["transfers of a session", "checked: ns a side", "silent: ns a side",
            "checked: bytes each", "silent: bytes each", "silent ones win below, Mbit/s"]  # fmt: skip
    return table(head, rows)


def _break_even(row: dict[str, Any]) -> str:
    """The rate at which the bytes that are saved take as long as the work that is added."""
    found = {key: one["median"] if isinstance(one, dict) else one for key, one in row.items()}
    saved = found["checked_bytes"] - found["silent_bytes"]
    added = found["silent_nanoseconds"] - found["checked_nanoseconds"]
    return shown(8000 * saved / added) if saved > 0 < added else ""


def transfers_jobs(result: dict[str, Any]) -> str:
    ways = ("before", "checked", "silent")
    rows = [
        [row["job"], *(f"{row[f'{way}_bytes'] / 1e6:,.2f}" for way in ways)]
        for row in result["jobs"]
    ]
    head = [f"{shown(result['people'])} people, MB", "unchecked transfers (IKNP)", "checked ones",
            "checked and silent ones"]  # fmt: skip
    return table(head, rows)
