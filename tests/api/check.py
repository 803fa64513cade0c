"""Tries the API against its own description, as each role, with requests that Schemathesis makes up.

    check.py BINARY     serves BINARY on a free port with a database that is thrown away

The audit of what the requests left behind closes it.
"""

import contextlib
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent
ROLES = ("customer", "operator", "service")
START_SECONDS = 30


def main(binary):
    with tempfile.TemporaryDirectory(prefix="order-service-api-") as directory:
        with serving(binary, directory) as url:
            passed = [conforms(url, role, directory) for role in ROLES]
        passed.append(audited(binary, directory))
    print(f"{passed.count(True)} passed, {passed.count(False)} failed", flush=True)
    return 0 if all(passed) else 1


@contextlib.contextmanager
def serving(binary, directory):
    """Yields the address; a server that has ended by itself meanwhile is an error. Its log is shown when it matters."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with open(f"{directory}/log", "w+", encoding="utf-8") as log:
        environment = settings(directory) | {"ORDER__SERVER__PORT": str(port)}
        server = subprocess.Popen(
            [binary], cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
        )
        try:
            wait_until_ready(url, server)
            yield url
            if server.poll() is not None:
                raise SystemExit(f"the server ended with {server.returncode} while it was tried")
        except BaseException:
            log.seek(0)
            sys.stderr.write("".join(log.readlines()[-40:]))
            raise
        finally:
            stop(server)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def settings(directory):
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("ORDER_")}
    return inherited | {
        "ORDER_PROFILE": "development",
        "ORDER__SERVER__HOST": "127.0.0.1",
        "ORDER__DATABASE__URL": f"sqlite://{directory}/orders.db",
    }


def wait_until_ready(url, server):
    deadline = time.monotonic() + START_SECONDS
    while True:
        if server.poll() is not None:
            raise SystemExit(f"the server ended with {server.returncode} before it was ready")
        with contextlib.suppress(urllib.error.URLError, OSError):
            urllib.request.urlopen(f"{url}/readyz", timeout=5).close()
            return
        if time.monotonic() > deadline:
            raise SystemExit(f"the server was not ready after {START_SECONDS} s")
        time.sleep(0.1)


def stop(server):
    server.terminate()
    try:
        server.wait(timeout=15)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def conforms(url, role, directory):
    print(f"\n== as {role}", flush=True)
    schemathesis = pathlib.Path(sys.executable).parent / "schemathesis"
    command = [schemathesis, "--config-file", HERE / "schemathesis.toml", "run", f"{url}/openapi.json", "--url", url]
    environment = os.environ | {
        "ACCESS_TOKEN": access_token(url, role),
        "ROLE": role,
        "SCHEMATHESIS_HOOKS": str(HERE / "hooks.py"),
    }
    return succeeds(command, directory, environment)


def audited(binary, directory):
    print("\n== audit", flush=True)
    return succeeds([binary, "audit"], ROOT, settings(directory))


def succeeds(command, directory, environment):
    done = subprocess.run(command, cwd=directory, env=environment, stdin=subprocess.DEVNULL, check=False)
    return done.returncode == 0


def access_token(url, role):
    request = urllib.request.Request(
        f"{url}/api/dev/sign-in",
        data=json.dumps({"user_id": f"{role}-1", "role": role}).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=10) as response:
        return json.load(response)["access_token"]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
