"""A compose project on a real engine, driven by its command line."""

import functools
import io
import os
import shutil
import subprocess
import tarfile
import time

from tests import ROOT

# Debian's client fits Debian's engine; a newer client first on the PATH may not.
DOCKER = next(
    (p for p in ("/usr/bin/docker", shutil.which("docker") or "") if os.path.exists(p)), ""
)
IMAGE = "coterie:compose-test"


def docker(*arguments, check=True, timeout=120, text=True, **options):
    return subprocess.run(
        [DOCKER, *arguments],
        check=check,
        timeout=timeout,
        text=text,
        capture_output=True,
        **options,
    )


def engine_answers():
    return bool(DOCKER) and docker("info", check=False).returncode == 0


@functools.cache
def compose_command():
    """`docker compose` where the plugin is installed, else docker-compose."""
    if docker("compose", "version", check=False).returncode == 0:
        return [DOCKER, "compose"]
    return [shutil.which("docker-compose")]


class Project:
    """One run of docker-compose.yml under a name of its own."""

    def __init__(self, name, **environment):
        self.name = name
        self._environment = {**os.environ, "COTERIE_IMAGE": IMAGE, **environment}

    def compose(self, *arguments, check=True, timeout=300):
        done = subprocess.run(
            [*compose_command(), "-p", self.name, *arguments],
            cwd=ROOT,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=timeout,
        )
        if check and done.returncode:
            raise AssertionError(f"compose {arguments} failed:\n{done.stdout}\n{done.stderr}")
        return done

    def container(self, service):
        """Asked of the engine: docker-compose takes a second of the processor for the same answer."""
        filters = (
            f"--filter=label=com.docker.compose.{key}={value}"
            for key, value in {"project": self.name, "service": service}.items()
        )
        [found] = docker("ps", "-aq", "--no-trunc", *filters).stdout.split()
        return found

    def logs(self, service):
        printed = docker("logs", self.container(service), check=False)
        return printed.stderr + printed.stdout

    def prepare(self):
        """Starts `setup` and waits until the volumes are filled."""
        self.compose("up", "-d", "--no-build", "setup")
        asked = ("inspect", "-f", "{{.State.Health.Status}}", self.container("setup"))
        end = time.monotonic() + 300
        while docker(*asked).stdout.strip() != "healthy":
            assert time.monotonic() < end, self.logs("setup")
            time.sleep(0.2)

    def start(self):
        """Starts the parties and, when all of them serve, the coordinator."""
        self.compose("up", "-d", "coordinator")

    def wait_for_line(self, service, words, seconds=180):
        """Waits until the service has printed all the words."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            printed = self.logs(service)
            if all(word in printed for word in words):
                return printed
            time.sleep(0.2)
        raise AssertionError(
            f"{service} did not print {words} within {seconds} s:\n{self.logs(service)}"
        )

    def wait_for_exit(self, service, seconds=300):
        """The exit code of a service that is expected to end by itself."""
        container = self.container(service)
        done = docker("wait", container, timeout=seconds)
        return int(done.stdout.strip())

    def files(self, service, path):
        """The files below a path in a container, by name."""
        raw = docker("cp", f"{self.container(service)}:{path}", "-", text=False).stdout
        with tarfile.open(fileobj=io.BytesIO(raw)) as archive:
            return {
                member.name: archive.extractfile(member).read()
                for member in archive.getmembers()
                if member.isfile()
            }

    def written(self, service):
        """The files of a container that its user could have written, volumes aside."""
        raw = docker("export", self.container(service), text=False, timeout=300).stdout
        system = ("opt/", "usr/", "lib", "bin", "sbin", "boot", "proc", "sys", "var/lib/")
        with tarfile.open(fileobj=io.BytesIO(raw)) as archive:
            return {
                member.name: archive.extractfile(member).read()
                for member in archive
                if member.isfile() and not member.name.startswith(system)
            }

    def in_volume(self, volume, script):
        """Runs a shell line with a volume of the project at /v, as the volume's owner."""
        return docker(
            "run", "--rm", "--network", "none", "--entrypoint", "sh", "-u", "coterie",
            "-v", f"{self.name}_{volume}:/v", IMAGE, "-c", script,
        )  # fmt: skip

    def down(self):
        self.compose("down", "-v", "--remove-orphans", "-t", "3", check=False)
