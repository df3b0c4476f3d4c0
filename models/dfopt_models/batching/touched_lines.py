"""Counts misses line by line, to check what the model says by arithmetic."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterator

from dfopt_models.batching.model import BatchingModel


def simulated_misses(
    model: BatchingModel, granularity: int, length: int, *, batches: bool
) -> float:
    """Return lines missed in a dispatch on average, in a cache that drops the least recent line.

    All threads are there from the beginning. With ``batches`` they run as under unibatch-smash,
    else in one circular queue. Times play no part.

    Parameters
    ----------
    model
        Its cache, its array and its batches; own lines are rounded up.
    granularity, length
        Integers of a thread, and its passes.
    """
    threads = model.threads(granularity)
    cache: OrderedDict[int, None] = OrderedDict()
    missed = 0
    order = in_batches(model, threads, length) if batches else in_a_circle(threads, length)
    for thread in order:
        for line in lines_of(model, granularity, thread):
            if line in cache:
                cache.move_to_end(line)
                continue
            missed += 1
            cache[line] = None
            if len(cache) > model.cache_lines:
                cache.popitem(last=False)
    return missed / (threads * length)


def lines_of(model: BatchingModel, granularity: int, thread: int) -> Iterator[int]:
    """Yield the lines that a thread touches in a pass: its own, then those of its integers."""
    own = -int(-model.own_lines // 1)
    yield from range(-(thread + 1) * own, -thread * own)
    begin = thread * granularity
    size = model.integers_of_a_line
    yield from range(begin // size, (begin + granularity - 1) // size + 1)


def in_a_circle(threads: int, length: int) -> Iterator[int]:
    """Yield threads in the order of their dispatches, without batches."""
    for _ in range(length):
        yield from range(threads)


def in_batches(model: BatchingModel, threads: int, length: int) -> Iterator[int]:
    """Yield threads in the order of their dispatches, in batches."""
    size = model.max_batch_size
    queue = deque(
        deque((thread, length) for thread in range(first, min(first + size, threads)))
        for first in range(0, threads, size)
    )
    while queue:
        batch = queue.popleft()
        for _ in range(model.max_batch_count):
            thread, left = batch.popleft()
            yield thread
            if left > 1:
                batch.append((thread, left - 1))
            if not batch:
                break
        else:
            queue.append(batch)


def model_that_is_quick(model: BatchingModel, granularity: int) -> BatchingModel:
    """Return the model with array and cache halved as often as a batch fits and caches overflow."""
    batch = model.max_batch_size
    smaller = model
    while (
        smaller.cache_lines % 2 == smaller.array_size % (2 * granularity * batch) == 0
        and smaller.cache_lines // 2 >= batch * model.footprint(granularity)
        and smaller.threads(granularity) * model.footprint(granularity) > smaller.cache_lines
    ):
        smaller = smaller.with_values(
            cache_lines=smaller.cache_lines // 2, array_size=smaller.array_size // 2
        )
    return smaller
