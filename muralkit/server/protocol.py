"""The requests that a plug-in may make, and what it is answered: JSON objects by their schema."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from muralkit import wording
from muralkit.errors import InputError

PROTOCOL = 1
"""Goes up when a plug-in of before would misread an answer; plug-ins name theirs."""


def _unicode(text: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError("must be valid Unicode") from error
    return text


Text = Annotated[str, AfterValidator(_unicode)]
MOST_QUERY = 1000
"""Characters: nobody reads more off a picture, and one request must not hold up the others."""

Name = Annotated[Text, Field(min_length=1, max_length=4096)]
Harness = Literal["opencode", "pi", "omp", "mcp", "anthropic", "openai"]
Importance = Annotated[int, Field(ge=1, le=100)]


class Request(BaseModel):
    """What is asked for. Unknown fields are left alone, as a newer plug-in may have some."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")


class Answer(BaseModel):
    """What comes back."""

    model_config = ConfigDict(frozen=True)


Asked = TypeVar("Asked", bound="Request")


def checked(model: type[Asked], data: object) -> Asked:
    """The data as a request. Raises InputError, which names the field."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        place, what = wording.faults(error)[0]
        raise InputError(f"It {what}.", where=".".join(place)) from error


class InProject(Request):
    """A request about one project."""

    project: Name | None = Field(
        None, description="A folder of the project; by default the one the server was started in."
    )


class HelloRequest(InProject):
    """Who asks, at the start."""

    client: Name = "unknown"
    version: Text = ""
    protocol: int = PROTOCOL


class HelloAnswer(Answer):
    """Who answers, and whether the two understand one another."""

    version: str
    protocol: int
    compatible: bool
    enabled: bool = Field(description="mural.enabled: without it a plug-in offers no tools.")
    advice: str = Field(description="What to do where they don't; else empty.")


class BaselineRequest(InProject):
    """A turn of a session that is about to be sent."""

    harness: Harness = Field(description="Who asks; also the envelope.")
    session: Name = Field(description="The harness's session.")
    model: Name = Field(description="PROVIDER/MODEL of this turn.")
    system: Text = Field("", description="A hash of the system prompt.")
    inputs: Any = Field(
        None,
        description='What the harness says that the model takes: ["text", "image"], or '
        '{"text": true, "image": true}. Only a plain yes to images counts as one.',
    )
    fold: bool = Field(False, description="Fold, whatever has changed.")
    protocol: int = Field(PROTOCOL, description="The plug-in's; with another one, text alone.")


class BaselineAnswer(Answer):
    """What goes before the conversation: the same bytes until the next fold."""

    enabled: bool = Field(description="mural.enabled: a plug-in adds nothing where it is off.")
    compress: bool = Field(description="dreamer.in_session: the host is to make cues.")
    available: bool = Field(
        description="Whether it could be told: else a plug-in keeps what it had before."
    )
    folded: bool
    reason: str
    text: str = Field(description="The text block, without the marker of a picture.")
    parts: list[dict[str, Any]] = Field(description="The harness's own envelope; may be empty.")


class RecallRequest(InProject):
    """What was read, perhaps with a wrong character."""

    query: Annotated[Text, Field(max_length=MOST_QUERY)]
    limit: Annotated[int, Field(ge=1, le=50)] = 5


class MemoryEntry(Answer):
    """A memory; times are seconds since 1970."""

    id: int
    category: str
    importance: int | None
    status: Literal["active", "permanent", "archived"]
    content: str
    created_at: int
    updated_at: int
    expires_at: int | None
    status_before: Literal["active", "permanent"] | None = None


class MatchEntry(Answer):
    """A memory that may be meant. Exact: it has the query to the letter."""

    certainty: Literal["exact", "likely", "possible"]
    likeness: float
    found: str = Field(description="What in the memory was taken for the query.")
    memory: MemoryEntry


class RecallAnswer(Answer):
    """The likeliest first."""

    matches: list[MatchEntry]


class AddRequest(InProject):
    """A memory to keep."""

    content: Name
    category: Name = "PROJECT_RULES"
    importance: Importance | None = Field(None, description="None counts as 50.")
    permanent: bool = Field(False, description="First in the text budget.")


class AddAnswer(Answer):
    """Where it is kept; `new` is false where it was known."""

    memory_id: int
    new: bool


class ListRequest(InProject):
    """Which memories."""

    everything: bool = Field(False, description="Archived and expired ones too.")
    category: Text | None = None


class ListAnswer(Answer):
    """By their numbers."""

    memories: list[MemoryEntry]


class PendingRequest(InProject):
    """How many prompts to take on, and for whose model."""

    harness: Literal["opencode", "pi", "omp"] | None = None
    limit: Annotated[int, Field(ge=1, le=50)] = 10


class CuePrompt(Answer):
    """A prompt whose reply is a cue of one memory, of the content that it has now."""

    memory_id: int
    content_hash: str
    prompt: str


class PendingAnswer(Answer):
    """The most important memories first. `reason` says why there are no prompts."""

    prompts: list[CuePrompt]
    model: str | None = Field(None, description="What the user configured for the harness.")
    left: int = Field(description="How many memories have no current cue.")
    reason: str


class CueReply(Request):
    """What a model replied to a prompt, as it came."""

    memory_id: Annotated[int, Field(ge=1, le=2**53)]
    content_hash: Name
    reply: Annotated[Text, Field(max_length=100_000)]


class ApplyRequest(InProject):
    """Replies of one model."""

    model: Name
    replies: Annotated[list[CueReply], Field(max_length=50)]


class CueOutcome(Answer):
    """What came of a reply; a refused one may be asked for again with `prompt`."""

    memory_id: int
    result: Literal["made", "refused", "fallback", "stale"]
    reason: str = ""
    prompt: str = ""


class ApplyAnswer(Answer):
    """One for each reply, in its order."""

    outcomes: list[CueOutcome]


class StatusRequest(InProject):
    """Where the project stands, perhaps for one model."""

    model: Name | None = None
    harness: Text = ""
    inputs: Any = None


class TextStatus(Answer):
    """The text block."""

    memories: int
    tokens: int
    budget: int


class CueStatus(Answer):
    """The pool by its cues."""

    current: int
    stale: int
    missing: int


class GateStatus(Answer):
    """Whether a mural is drawn, and why."""

    open: bool
    reason: str


class MuralStatus(Answer):
    """The page: pixels, and cues."""

    width: int
    height: int
    tokens: int
    shown: int
    dropped: int


class VisionStatus(Answer):
    """Whether the model accepts images, and who says so."""

    images: bool
    source: str | None


class StatusAnswer(Answer):
    """As `muralkit status --json` prints it."""

    project: str
    pool: int
    text: TextStatus
    overflow: int
    drawable: int
    cues: CueStatus
    gate: GateStatus
    mural: MuralStatus | None
    overflow_tokens: int
    prices: dict[str, int]
    theme: str
    vision: VisionStatus | None = None
    trouble: str = Field("", description="What keeps the page from being set.")
