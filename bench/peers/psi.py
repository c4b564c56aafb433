"""One private set intersection by another library, between two processes of this machine.

    python psi.py TOOL FOLDER [PORT PORT SEEN SEEN]     TOOL: openmined, spu-kkrt, spu-rr22, spu-ecdh

The ports are those at which the two parties listen, and at which each is reached over a slow link.
Reads FOLDER/p0.csv and FOLDER/p1.csv (column `ID`), prints {"seconds", "records", "peak_mb",
"cpu_seconds"}. The script does not import Coterie, since the libraries may need other versions of
Coterie's dependencies and then have an environment of their own. The clock starts when both
processes have imported their libraries, and ends when the last one is done.
"""

import csv
import json
import multiprocessing
import os
import resource
import socket
import sys
import threading
import time
from multiprocessing.connection import Connection
from typing import Any


def read(path: str) -> list[str]:
    with open(path, newline="") as file:
        return [row[0] for row in csv.reader(file)][1:]


def spent() -> tuple[float, float]:
    """The peak memory in megabytes and the processor seconds of this process so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_maxrss / 1024, used.ru_utime + used.ru_stime


def send(wire: Connection, data: bytes) -> threading.Thread:
    """Sends in a thread, because a pipe buffers little and both sides send first."""
    thread = threading.Thread(target=wire.send_bytes, args=(data,))
    thread.start()
    return thread


def openmined(rank: int, folder: str, wire: Connection, ready: Any, go: Any, out: Any) -> None:
    """The client sends its encrypted set while the server encrypts its own, as on two machines."""
    import private_set_intersection.python as psi

    ready.release()
    go.wait()
    before = spent()[1]
    values = read(f"{folder}/p{rank}.csv")
    if rank == 0:
        client = psi.client.CreateWithNewKey(True)
        sent = send(wire, client.CreateRequest(values).SerializeToString())
        setup, response = psi.ServerSetup(), psi.Response()
        setup.ParseFromString(wire.recv_bytes())
        response.ParseFromString(wire.recv_bytes())
        sent.join()
        found = sorted(client.GetIntersection(setup, response))
        with open(f"{folder}/out.csv", "w") as file:
            file.writelines(f"{values[i]}\n" for i in found)
        out.put((rank, len(found), spent()[0], spent()[1] - before))
    else:
        server = psi.server.CreateWithNewKey(True)
        setup = server.CreateSetupMessage(1e-9, len(values), values, psi.DataStructure.RAW)
        sent = send(wire, setup.SerializeToString())
        request = psi.Request()
        request.ParseFromString(wire.recv_bytes())
        response = server.ProcessRequest(request).SerializeToString()
        sent.join()
        wire.send_bytes(response)
        out.put((rank, None, spent()[0], spent()[1] - before))


def spu(
    rank: int,
    folder: str,
    protocol: str,
    ports: list[int],
    seen: list[int],
    ready: Any,
    go: Any,
    out: Any,
) -> None:
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    os.chdir(folder)
    import spu.libspu.link as link
    import spu.psi as psi

    described = link.Desc()
    for i in (0, 1):
        described.add_party(f"p{i}", f"127.0.0.1:{(ports if i == rank else seen)[i]}")
    described.recv_timeout_ms = 600_000
    ready.release()
    go.wait()
    before = spent()[1]
    context = link.create_brpc(described, rank)
    curve = psi.EllipticCurveType.CURVE_FOURQ
    config = psi.PsiExecuteConfig(
        protocol_conf=psi.PsiProtocolConfig(
            protocol=getattr(psi.PsiProtocol, f"PROTOCOL_{protocol.upper()}"),
            receiver_rank=0,
            broadcast_result=True,
            ecdh_params=psi.EcdhParams(curve=curve),
        ),
        input_params=psi.InputParams(
            path=f"{folder}/p{rank}.csv", selected_keys=["ID"], keys_unique=True
        ),
        output_params=psi.OutputParams(path=f"{folder}/out{rank}.csv", disable_alignment=True),
    )
    report = psi.psi_execute(config, context)
    out.put((rank, report.intersection_count, spent()[0], spent()[1] - before))
    context.stop_link()


def free_ports() -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def main() -> None:
    tool, folder, *given = sys.argv[1:]
    spawn = multiprocessing.get_context("spawn")
    out: Any = spawn.Queue()
    ready, go = spawn.Semaphore(0), spawn.Event()
    work: list[tuple[Any, tuple[Any, ...]]]
    if tool == "openmined":
        ends = spawn.Pipe()
        work = [(openmined, (i, folder, ends[i], ready, go, out)) for i in (0, 1)]
    else:
        ports = [int(port) for port in given] or 2 * free_ports()
        protocol = tool.removeprefix("spu-")
        work = [(spu, (i, folder, protocol, ports[:2], ports[2:], ready, go, out)) for i in (0, 1)]
    processes = [spawn.Process(target=function, args=arguments) for function, arguments in work]
    for process in processes:
        process.start()
    for _ in processes:
        if not ready.acquire(timeout=120):
            raise SystemExit("the library did not load")
    start = time.perf_counter()
    go.set()
    results = sorted(out.get(timeout=3000) for _ in processes)
    seconds = time.perf_counter() - start
    for process in processes:
        process.join(20)
        process.kill()
    print(
        json.dumps(
            {
                "seconds": round(seconds, 3),
                "records": results[0][1],
                "peak_mb": round(max(result[2] for result in results)),
                "cpu_seconds": round(sum(result[3] for result in results), 3),
            }
        )
    )


if __name__ == "__main__":
    main()
