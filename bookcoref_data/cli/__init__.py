"""The command line: arguments, progress, printing and exit codes. Nothing else prints."""

import gc
import signal
import sys

# What imports make stays: looking through it for garbage was a twentieth of what a small command costs.
gc.set_threshold(20_000, 20, 20)


def main() -> None:
    """Run the command line (`app.main`), which Ctrl-C ends in the same way while it is being imported."""
    try:
        from .app import main as run

        run()
    except KeyboardInterrupt:
        # Python now waits for what workers are at; where a second one broke that off, it waited for good.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        print("interrupted; finished work is kept, run the same command again to go on", file=sys.stderr)
        sys.exit(130)
