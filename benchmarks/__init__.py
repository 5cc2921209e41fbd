"""What the README claims about speed, as commands: `python -m benchmarks` measures all of it."""
