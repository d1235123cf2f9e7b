"""A request in, its answer out: what `muralkit serve` and `muralkit mcp` have in common."""

from __future__ import annotations

import os
import socket
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from muralkit import __version__, dreamer, survey, vision
from muralkit import recall as recalls
from muralkit import session as sessions
from muralkit.completers import configured
from muralkit.cues import prompt
from muralkit.cues.compress import MOST_REFUSALS, by_rules, rejections, weigh
from muralkit.envelope import parts
from muralkit.errors import InputError, MuralkitError
from muralkit.importing import jsonl
from muralkit.model import Memory, Status
from muralkit.place import Place, Places
from muralkit.sections import Config
from muralkit.server import protocol as p
from muralkit.store import Draft, Store, content_hash
from muralkit.store.sqlite import SqliteStore

PATIENCE = 0.3
"""Seconds that an agent's turn waits for a store that another process holds."""

WRITES = 2.0
"""Seconds that a memory or a cue waits, which is not to be lost."""

HOLD = 300.0
"""Seconds that the prompts which were given out are this server's to answer."""


class Methods:
    """Answers requests, one at a time; `folder` is the project where none is named."""

    def __init__(
        self,
        folder: Path,
        store_path: Path | None = None,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._folder = folder
        self.places = Places(store_path, PATIENCE)
        self._clock = clock
        self._holder = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4()}"
        self._leased: dict[str, Path] = {}

    def close(self) -> None:
        """Let others make the cues that were given out here, and close what is open."""
        for folder in self._leased.values():
            with suppress(MuralkitError):
                self.places.at(folder).store.drop_lease(dreamer.TASK, self._holder)
        self.places.close()

    @staticmethod
    def warm() -> None:
        """Import what a fold takes, before one does: it is a third of the first one's time."""
        from muralkit import cache, layout, pipeline, raster, svg, theme  # noqa: F401

    def hello(self, asked: p.HelloRequest) -> p.HelloAnswer:
        """Say which version answers, and whether the plug-in's goes with it."""
        advice, enabled = _mismatch(asked.protocol), False
        with suppress(MuralkitError):  # each turn's baseline says what is wrong
            enabled = self._place(asked).loaded.config.mural.enabled
        return p.HelloAnswer(
            version=__version__,
            protocol=p.PROTOCOL,
            compatible=not advice,
            enabled=enabled,
            advice=advice,
        )

    def baseline(self, asked: p.BaselineRequest) -> p.BaselineAnswer:
        """The baseline of a turn; where nothing can be read, an empty one and its reason."""
        mismatch = _mismatch(asked.protocol)
        turn = sessions.Turn(
            harness=asked.harness,
            session=asked.session,
            model=asked.model,
            system=asked.system,
            declared=["text"] if mismatch else asked.inputs,
            fold=asked.fold,
        )
        enabled = compress = False

        def opened() -> tuple[SqliteStore, Store, Config]:
            nonlocal enabled, compress
            place = self._place(asked)
            enabled = place.loaded.config.mural.enabled
            compress = enabled and place.loaded.config.dreamer.in_session
            return place.own, place.store, place.loaded.config

        made = sessions.safely(turn, opened, self._clock())
        return p.BaselineAnswer(
            enabled=enabled,
            compress=compress,
            available=not made.failed,
            folded=made.folded,
            reason=mismatch or made.reason,
            text=made.text,
            parts=parts(asked.harness, made),
        )

    def recall(self, asked: p.RecallRequest) -> p.RecallAnswer:
        """The memories behind what was read."""
        place = self._place(asked)
        alike = recalls.confusable(place.loaded.config.mural)
        found = recalls.find(place.store, asked.query, asked.limit, alike)
        return p.RecallAnswer(
            matches=[
                p.MatchEntry(
                    certainty=match.certainty.value,
                    likeness=match.likeness,
                    found=match.found,
                    memory=_entry(match.memory),
                )
                for match in found
            ]
        )

    def add(self, asked: p.AddRequest) -> p.AddAnswer:
        """Keep a memory."""
        jsonl.check(asked.category, asked.content)
        status = Status.PERMANENT if asked.permanent else Status.ACTIVE
        place = self._place(asked)
        with place.own.patient(WRITES):
            [kept] = place.store.add(
                [Draft(asked.category, asked.content, asked.importance, status)]
            )
        return p.AddAnswer(memory_id=kept.memory_id, new=kept.new)

    def list(self, asked: p.ListRequest) -> p.ListAnswer:
        """The project's memories."""
        found = self._place(asked).store.memories(Status if asked.everything else None)
        return p.ListAnswer(
            memories=[_entry(m) for m in found if asked.category in (None, m.category)]
        )

    def pending(self, asked: p.PendingRequest) -> p.PendingAnswer:
        """Prompts for the cues that are to be made, and the right to answer them."""
        place = self._place(asked)
        if not place.loaded.config.mural.enabled:
            reason = "the mural is switched off (mural.enabled is false)"
            return p.PendingAnswer(prompts=[], left=0, reason=reason)
        with place.own.patient(WRITES):
            if not place.store.take_lease(dreamer.TASK, self._holder, HOLD):
                return p.PendingAnswer(prompts=[], left=0, reason="another process makes them")
            self._leased[place.store.project] = self._folder_of(asked)
            cues = place.store.cues()
            found = dreamer.pending(place.store, model=True)
            ready: list[Memory] = []
            for memory in found:
                refused = rejections(memory, cues.get(memory.id))
                if refused >= MOST_REFUSALS:
                    place.store.put_cues([by_rules(memory, refused).cue])
                elif len(ready) < asked.limit:
                    ready.append(memory)
            if not ready:
                self._let_go(place)
        dreamer_of = getattr(place.loaded.config.dreamer, asked.harness) if asked.harness else None
        models = configured.models(dreamer_of) if dreamer_of else []
        return p.PendingAnswer(
            prompts=[_asking(m) for m in ready],
            model=models[0].name if models else None,
            left=len(found),
            reason="" if ready else "every memory has its cue",
        )

    def apply(self, asked: p.ApplyRequest) -> p.ApplyAnswer:
        """Take a model's replies: each becomes a cue, or is refused with the reason."""
        place = self._place(asked)
        with place.own.patient(WRITES):
            held = place.store.take_lease(dreamer.TASK, self._holder, HOLD)
            outcomes = [self._weigh(place.store, asked.model, reply) for reply in asked.replies]
            if held:
                self._leased[place.store.project] = self._folder_of(asked)
                if not dreamer.pending(place.store, model=True, limit=1):
                    self._let_go(place)
        return p.ApplyAnswer(outcomes=outcomes)

    def status(self, asked: p.StatusRequest) -> p.StatusAnswer:
        """Where the project stands."""
        place = self._place(asked)
        config = place.loaded.config
        sight = None
        theme = vision.theme_for("", {}, config.mural.theme)
        if asked.model is not None:
            sight = vision.look(
                asked.model,
                harness=asked.harness,
                declared=asked.inputs,
                table=config.mural.vision,
            )
            theme = vision.theme_for(asked.model, config.mural.readers, config.mural.theme)
        report = survey.report(place.store, config, theme, sight)
        return p.StatusAnswer.model_validate(report)

    def _weigh(self, store: Store, model: str, reply: p.CueReply) -> p.CueOutcome:
        memory = store.memory(reply.memory_id)
        if memory is None or content_hash(memory.content) != reply.content_hash:
            return _stale(reply)
        [weighed] = weigh([memory], store.cues(), reply.reply, model)
        if not store.put_cues([weighed.cue]):
            return _stale(reply)
        again = ""
        if weighed.result is None and weighed.refusal is not None:
            again = prompt.ask([memory], {memory.id: weighed.refusal})
        return p.CueOutcome(
            memory_id=memory.id,
            result=weighed.result.value if weighed.result else "refused",
            reason=weighed.refusal.reason if weighed.refusal else "",
            prompt=again,
        )

    def _place(self, asked: p.InProject) -> Place:
        folder = self._folder_of(asked)
        if not os.path.isdir(folder):  # noqa: PTH112  # Path.is_dir raises for what is no name
            raise InputError("There is no such folder.", where=str(folder))
        return self.places.at(folder)

    def _folder_of(self, asked: p.InProject) -> Path:
        return self._folder if asked.project is None else Path(asked.project)

    def _let_go(self, place: Place) -> None:
        place.store.drop_lease(dreamer.TASK, self._holder)
        self._leased.pop(place.store.project, None)


def _mismatch(theirs: int) -> str:
    """What to do about a plug-in that is not of our version; empty: nothing."""
    if theirs == p.PROTOCOL:
        return ""
    ours = theirs > p.PROTOCOL
    older = "muralkit is" if ours else "the plug-in is (`muralkit install` writes it)"
    return (
        f"The plug-in speaks protocol {theirs}, muralkit {__version__} speaks {p.PROTOCOL}: text "
        f"alone until {older} brought up to date."
    )


def _entry(memory: Memory) -> p.MemoryEntry:
    return p.MemoryEntry.model_validate(jsonl.as_dict(memory))


def _asking(memory: Memory) -> p.CuePrompt:
    digest = content_hash(memory.content)
    return p.CuePrompt(memory_id=memory.id, content_hash=digest, prompt=prompt.ask([memory]))


def _stale(reply: p.CueReply) -> p.CueOutcome:
    what = "the memory is gone, or was changed since"
    return p.CueOutcome(memory_id=reply.memory_id, result="stale", reason=what)
