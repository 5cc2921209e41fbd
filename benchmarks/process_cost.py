"""What a process costs: CPU seconds and memory, as the system counted them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """CPU seconds, of user and system and of all threads and children, and the most memory held at once."""

    seconds: float
    megabytes: float

    def and_again(self, other: Cost | None) -> Cost:
        """Two measurements of the same: the least time, which is least disturbed, and the most memory."""
        if other is None:
            return self
        return Cost(
            seconds=min(self.seconds, other.seconds),
            megabytes=max(self.megabytes, other.megabytes),
        )


def cost(words: Sequence[str]) -> Cost:
    """Run a command, its output thrown away, and say what it cost; a command that fails is an error.

    The system starts counting a child's memory from what its parent holds. So this process stays small: it
    imports neither NumPy nor Polars.
    """
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        said = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.stderr.buffer.write(said)
        raise subprocess.CalledProcessError(process.returncode, list(words))
    return Cost(seconds=usage.ru_utime + usage.ru_stime, megabytes=usage.ru_maxrss * 1024 / 1e6)


def least_seconds(module: str, task: str, *, turns: int) -> float:
    """The least CPU seconds of several processes that do a task of a module and print how long it took."""
    words = [sys.executable, "-m", module, task]
    return min(float(subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout) for _ in range(turns))


def cost_of_work(work: Callable[[], object]) -> Cost:
    """What work inside this process takes: CPU seconds of all threads, and memory beside what was held before."""
    forget_peak()
    held, start = memory("VmRSS"), time.process_time()
    work()
    return Cost(seconds=time.process_time() - start, megabytes=memory("VmHWM") - held)


def forget_peak() -> None:
    """Let the system count the most memory held from now on; Linux alone can."""
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def memory(what: str) -> float:
    """Megabytes, as Linux tells them."""
    with open("/proc/self/status") as file:
        line = next(line for line in file if line.startswith(what))
    return int(line.split()[1]) * 1024 / 1e6
