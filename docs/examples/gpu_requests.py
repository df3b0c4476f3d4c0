"""Writes gpu-requests.csv: an hour of requests to six models, as two GPUs served them in order."""

import csv
import heapq
import random
from pathlib import Path

MODELS = {
    "chat-70b": 34,
    "code-32b": 21,
    "chat-8b": 8,
    "vision-11b": 14,
    "draw-xl": 12,
    "speech": 5,
}
"""The models, the most wanted first, and the seconds that loading each one takes."""

GPUS, REQUESTS, HORIZON = 2, 120, 3600


def main() -> None:
    """Draw arrivals in bursts, serve them first come, first served, and write the log."""
    source = random.Random(2026)
    wanted = [1 / rank for rank in range(1, len(MODELS) + 1)]
    arrivals: list[tuple[float, str]] = []
    while len(arrivals) < REQUESTS:
        # A person works with one model for a while.
        time, (model,) = source.uniform(0, HORIZON), source.choices(list(MODELS), wanted)
        for _ in range(source.randint(1, 5)):
            arrivals.append((round(time, 1), model))
            time += source.expovariate(1 / 40)
    free: list[tuple[float, int, str]] = [(0.0, gpu, "") for gpu in range(GPUS)]
    with Path(__file__).with_name("gpu-requests.csv").open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["id", "model", "arrived", "started", "ended", "gpu"])
        for number, (arrived, model) in enumerate(sorted(arrivals)[:REQUESTS]):
            since, gpu, loaded = heapq.heappop(free)
            load = 0 if loaded == model else MODELS[model]
            started = round(max(since, arrived) + load, 1)
            ended = round(started + 2 + source.expovariate(1 / 18), 1)
            heapq.heappush(free, (ended, gpu, model))
            rows.writerow([f"r{number:03}", model, arrived, started, ended, f"gpu{gpu}"])


if __name__ == "__main__":
    main()
