"""Processes that a worker has started, as engines are: they end with it, whatever ends it."""

import os
import subprocess
import sys
from functools import cache

_WATCH = """
import os, signal, sys, time
worker = int(sys.argv[1])
while os.getppid() == worker:
    time.sleep(0.5)
try:
    os.killpg(worker, signal.SIGKILL)
except ProcessLookupError:
    pass
"""


@cache
def end_group_with_me() -> subprocess.Popen[bytes] | None:
    """Has the process group of this process killed once it has ended, also by SIGKILL.

    Ray does so as long as its own process on the machine lives. Of a driver that is killed, that
    process is given one second, which a busy machine may not have.

    Only for a process that leads a group of what it starts itself, as a worker of Ray does where
    Ray ends groups: of a program in a shell, the group has its neighbours of a pipeline, too.

    Returns:
        The process that watches; None where this one leads no group, on Windows, and where no
        process can be started.
    """
    if sys.platform == "win32" or os.getpgid(0) != os.getpid():
        return None
    # In a session of its own it outlives the group; the parent's number tells a death at once,
    # where a pipe would be held open by forked children.
    try:
        return subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _WATCH, str(os.getpid())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return None
