"""The compress-cues task: a project's memories without a current cue in, their cues out.

Prompts are answered by several threads; everything that touches the store happens in
the caller's. What is finished is kept at once, so a run that ends early, for whatever
reason, loses nothing.
"""

from __future__ import annotations

import os
import queue
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from muralkit.completers import Cause, Completer, CompletionError, Ladder
from muralkit.cues.compress import (
    Outcome,
    Result,
    by_model,
    by_rules,
    is_pending,
    rejections,
)
from muralkit.cues.rules import RULES
from muralkit.errors import StoreError
from muralkit.model import Memory, StoredCue
from muralkit.store import Store

TASK = "compress-cues"
LEASE = 60.0
"""Seconds after which the lease of a holder that died is anybody's."""

MOST_TIMEOUTS = 2
"""In a row, before a run ends."""

MOST_FAILURES = 5
"""Of any kind in a row: what broke five times breaks again."""

PATIENCE = 5.0
"""Seconds that a run which was stopped waits for replies on their way to end."""

CHUNK = 200
"""Cues of the rules that are written at once."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What bounds a run: prompts at once, memories a prompt, seconds in all, memories in all."""

    concurrency: int = 4
    batch_size: int = 1
    seconds: float = 1200.0
    limit: int | None = None


@dataclass(slots=True)
class Report:
    """What a run came to. `stopped` says why it ended before all was done, or nothing.

    `refused` counts replies; `stale` cues whose memory was changed meanwhile.
    """

    project: str
    pending: int = 0
    made: int = 0
    fallback: int = 0
    refused: int = 0
    failed: int = 0
    stale: int = 0
    stopped: str = ""
    model: str = RULES
    why: dict[str, int] = field(default_factory=dict)
    """Why replies failed, and how often; no text of a memory is in it."""

    @property
    def left(self) -> int:
        """How many memories are still without the cue that was asked for."""
        return self.pending - self.made - self.fallback


class Busy(Exception):
    """Another process runs the task for this project."""


Progress = Callable[[Report], None]


def pending(store: Store, *, model: bool, limit: int | None = None) -> list[Memory]:
    """The pool's memories whose cue is to be made, the most important first."""
    cues = store.cues()
    found = [
        memory
        for memory in store.memories()
        if is_pending(memory, cues.get(memory.id), model=model)
    ]
    found.sort(key=lambda memory: (-memory.weight, memory.id))
    return found if limit is None else found[:limit]


@contextmanager
def lease(store: Store) -> Iterator[Callable[[], None]]:
    """Hold the project's task, or raise Busy. Yields what keeps it, to be called often."""
    holder = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4()}"
    if not store.take_lease(TASK, holder, LEASE):
        raise Busy
    renewed = time.monotonic()

    def renew() -> None:
        nonlocal renewed
        if time.monotonic() - renewed > LEASE / 4:
            store.take_lease(TASK, holder, LEASE)
            renewed = time.monotonic()

    try:
        yield renew
    finally:
        store.drop_lease(TASK, holder)


def run(
    store: Store,
    completer: Completer | None,
    settings: Settings,
    progress: Progress = lambda report: None,
) -> Report:
    """Make the cues that are to be made; without a completer, by the rules.

    An interrupt ends the run with what is finished. Raises Busy where another process
    is at it, StoreError where the store can't be used.
    """
    with lease(store) as renew:
        found = pending(store, model=completer is not None, limit=settings.limit)
        report = Report(store.project, len(found), model=completer.name if completer else RULES)
        progress(report)
        if completer is None:
            _run_rules(store, found, report, progress, renew)
        elif found:
            _Run(store, completer, settings, report, progress, renew).go(found)
        return report


def _run_rules(
    store: Store,
    memories: Sequence[Memory],
    report: Report,
    progress: Progress,
    renew: Callable[[], None],
) -> None:
    cues = store.cues()
    try:
        for start in range(0, len(memories), CHUNK):
            part = memories[start : start + CHUNK]
            outcomes = [by_rules(m, rejections(m, cues.get(m.id))) for m in part]
            kept = store.put_cues(outcome.cue for outcome in outcomes)
            report.made += kept
            report.stale += len(part) - kept
            progress(report)
            renew()
    except KeyboardInterrupt:
        report.stopped = "interrupted"


@dataclass(slots=True)
class _Failed:
    """A prompt that got no reply, and how many memories were in it."""

    error: CompletionError
    memories: int


Event = Outcome | StoredCue | _Failed | None
"""A cue, a count of refusals, a failure, or the end of a thread."""


@dataclass(slots=True)
class _Run:
    """One run with a completer: threads that ask, and the caller's that keeps."""

    store: Store
    completer: Completer
    settings: Settings
    report: Report
    progress: Progress
    renew: Callable[[], None]
    events: queue.Queue[Event] = field(default_factory=queue.Queue)
    lock: threading.Lock = field(default_factory=threading.Lock)
    halted: str = ""
    """Why no thread asks any more."""
    timeouts: int = 0
    failures: int = 0
    ends: float = field(default_factory=lambda: float("inf"))
    """When a run that was stopped no longer waits for its threads."""

    def go(self, memories: Sequence[Memory]) -> None:
        """Ask for all of them, and keep what comes."""
        size = self.settings.batch_size
        work: queue.SimpleQueue[Sequence[Memory]] = queue.SimpleQueue()
        for start in range(0, len(memories), size):
            work.put(memories[start : start + size])
        cues = self.store.cues()
        count = min(self.settings.concurrency, -(-len(memories) // size))
        threads = [
            threading.Thread(target=self._ask, args=(work, cues), daemon=True) for _ in range(count)
        ]
        for thread in threads:
            thread.start()
        try:
            self._keep(count)
        except KeyboardInterrupt:
            self._stop("interrupted")
            self._drain()
        finally:
            self.completer.stop()

    def _ask(self, work: queue.SimpleQueue[Sequence[Memory]], cues: dict[int, StoredCue]) -> None:
        """A thread: take prompts until none is left."""
        while not self.halted:
            try:
                batch = work.get_nowait()
            except queue.Empty:
                break
            told: set[int] = set()

            def tell(event: Outcome | StoredCue, told: set[int] = told) -> None:
                if isinstance(event, Outcome):
                    told.add(event.cue.memory_id)
                self.events.put(event)

            try:
                by_model(batch, cues, self._answer, tell)
            except CompletionError as error:
                self._judge(error)
                self.events.put(_Failed(error, len(batch) - len(told)))
            except Exception as error:  # a fault of ours must not hang the run
                what = CompletionError(Cause.BROKEN, f"{type(error).__name__}: {error}")
                self.events.put(_Failed(what, len(batch) - len(told)))
        self.events.put(None)

    def _answer(self, prompt: str) -> tuple[str, str]:
        if isinstance(self.completer, Ladder):
            reply = self.completer.answer(prompt)
        else:
            reply = self.completer.complete(prompt), self.completer.name
        with self.lock:
            self.timeouts = self.failures = 0
        return reply

    def _judge(self, error: CompletionError) -> None:
        """Whether a failure ends the run: known at once to the thread that had it, or the
        others would ask on while the caller's is busy.
        """
        with self.lock:
            self.timeouts = self.timeouts + 1 if error.cause is Cause.TIMEOUT else 0
            self.failures += 1
            if self.failures >= MOST_FAILURES:
                self.halted = self.halted or f"{MOST_FAILURES} failures in a row: {error}"
            if error.cause is Cause.OUTAGE:
                self.halted = self.halted or f"the provider failed: {error}"
            elif self.timeouts >= MOST_TIMEOUTS:
                self.halted = self.halted or f"{MOST_TIMEOUTS} time-outs in a row: {error}"

    def _keep(self, threads: int) -> None:
        """The caller's thread: write what comes, until every thread has ended."""
        until = time.monotonic() + self.settings.seconds
        while threads:
            left = until - time.monotonic()
            if left <= 0 and not self.report.stopped:
                self._stop(f"the time was up ({self.settings.seconds / 60:g} minutes)")
            try:
                event = self.events.get(timeout=0.5 if self.report.stopped else min(left, 5.0))
            except queue.Empty:
                self.renew()
                if time.monotonic() > self.ends:
                    return  # what does not end by itself is not waited for
                continue
            if event is None:
                threads -= 1
            else:
                try:
                    self._take(event)
                except StoreError as error:
                    self._stop(f"the store: {error.what}")
            self.renew()

    def _take(self, event: Event) -> None:
        report = self.report
        if isinstance(event, Outcome):
            report.refused += event.result is Result.FALLBACK and event.refused > 0
            if not self.store.put_cues([event.cue]):
                report.stale += 1
            elif event.result is Result.FALLBACK:
                report.fallback += 1
            else:
                report.made += 1
        elif isinstance(event, StoredCue):
            report.refused += 1
            self.store.put_cues([event])
        elif isinstance(event, _Failed) and event.error.cause is not Cause.STOPPED:
            report.failed += event.memories
            reason = str(event.error)
            report.why[reason] = report.why.get(reason, 0) + 1
            if self.halted and not report.stopped:
                self._stop(self.halted)
        self.progress(report)

    def _stop(self, why: str) -> None:
        """Ask nothing more; replies on their way are ended."""
        self.halted = self.halted or why
        self.report.stopped = self.report.stopped or why
        self.ends = min(self.ends, time.monotonic() + PATIENCE)
        self.completer.stop()

    def _drain(self) -> None:
        """Keep what was finished before an interrupt."""
        until = time.monotonic() + 2
        while time.monotonic() < until:
            try:
                event = self.events.get(timeout=0.1)
            except queue.Empty:
                return
            if event is not None:
                self._take(event)
