"""The tables. Times are seconds since 1970; texts that only the rules read are JSON."""

from typing import Any

from sqlalchemy import JSON, ForeignKey, Index, LargeBinary, MetaData, UniqueConstraint, text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s",
    "pk": "pk_%(table_name)s",
}


class Base(DeclarativeBase):
    metadata = MetaData(naming_convention=NAMES)
    type_annotation_map = {dict[str, Any]: JSON, list[Any]: JSON, bytes: LargeBinary}  # noqa: RUF012


class Secret(Base):
    """What the server knows of its key: a digest. The key itself lies in a file, apart from the database."""

    __tablename__ = "secret"
    name: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[str]


class Counter(Base):
    """Numbers up to which something was given out, and is not given again."""

    __tablename__ = "counter"
    name: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[int]


class Staff(Base):
    __tablename__ = "staff"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    password: Mapped[str]
    """Argon2 hash."""
    session: Mapped[int] = mapped_column(default=0)
    """Raised to end every session of this person."""
    admin: Mapped[bool] = mapped_column(default=False)
    """Runs the server: sees every study, and gives people their accounts."""
    created: Mapped[float]


class Member(Base):
    """What a staff member may do in a study."""

    __tablename__ = "member"
    study_id: Mapped[int] = mapped_column(ForeignKey("study.id"), primary_key=True)
    staff_id: Mapped[int] = mapped_column(ForeignKey("staff.id"), primary_key=True)
    role: Mapped[str]
    """owner, moderator or viewer."""


class Upload(Base):
    """A file that staff have chosen for a study: kept until the study is set up, so that an error costs none."""

    __tablename__ = "upload"
    __table_args__ = (UniqueConstraint("batch", "name"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    batch: Mapped[str]
    """The form it was chosen in."""
    staff_id: Mapped[int] = mapped_column(ForeignKey("staff.id"))
    name: Mapped[str]
    """Its path within what was chosen."""
    width: Mapped[int]
    """Of a picture, which is kept as it will be shown; 0 for other files."""
    height: Mapped[int]
    content: Mapped[bytes]
    at: Mapped[float]


class Study(Base):
    __tablename__ = "study"
    id: Mapped[int] = mapped_column(primary_key=True)
    slug: Mapped[str] = mapped_column(unique=True)
    settings: Mapped[dict[str, Any]]
    state: Mapped[str] = mapped_column(default="open")
    """open, paused or closed."""
    public: Mapped[bool] = mapped_column(default=False)
    """Anyone may join from the front page, without an invitation."""
    created: Mapped[float]
    preview_until: Mapped[float | None]
    """A copy that a staff member plays in, gone by then; None for studies."""


class Invitation(Base):
    """A link into a study; only its hash is kept."""

    __tablename__ = "invitation"
    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("study.id"), index=True)
    token_hash: Mapped[str] = mapped_column(unique=True)
    uses_left: Mapped[int | None]
    """None: study-wide."""
    uses: Mapped[int] = mapped_column(default=0)
    note: Mapped[str] = mapped_column(default="")
    revoked: Mapped[bool] = mapped_column(default=False)
    created: Mapped[float]


class Rater(Base):
    """One person in one study."""

    __tablename__ = "rater"
    __table_args__ = (
        Index("ix_rater_board", "study_id", "points"),
        Index("ix_rater_begun", "begun", unique=True),
        Index("ix_rater_participant", "study_id", "participant_key", unique=True),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("study.id"))
    code: Mapped[str] = mapped_column(unique=True)
    """The name under which ratings leave the server."""
    name: Mapped[str]
    active: Mapped[bool] = mapped_column(default=True)
    phase: Mapped[str]
    round: Mapped[int] = mapped_column(default=1)
    """Which time the training is taken."""
    lesson: Mapped[int] = mapped_column(default=0)
    lesson_goal: Mapped[int] = mapped_column(default=0)
    lesson_right: Mapped[int] = mapped_column(default=0)
    lesson_points: Mapped[int] = mapped_column(default=0)
    place: Mapped[int] = mapped_column(default=0)
    """Items seen while playing: decides when a check is due."""
    cursor: Mapped[int] = mapped_column(default=-1)
    """Where in the study's order this rater stands."""
    rated: Mapped[int] = mapped_column(default=0)
    points: Mapped[int] = mapped_column(default=0)
    streak: Mapped[int] = mapped_column(default=0)
    best_streak: Mapped[int] = mapped_column(default=0)
    recent: Mapped[str] = mapped_column(default="")
    """Scores of the last checks, one digit each."""
    begun: Mapped[str | None]
    """The form this person joined with: sent twice, it makes one rater."""
    participant: Mapped[dict[str, Any] | None]
    """What a crowd platform said of them: its parameters as they came."""
    participant_key: Mapped[str | None]
    """Who they are there: the same person is the same rater, however often they come."""
    notice: Mapped[dict[str, Any] | None]
    """What they are told once, beside the next item: how a stage of training ended."""
    last: Mapped[dict[str, Any] | None]
    """Their last answer and where they stood before it, for taking it back."""
    finished: Mapped[float | None]
    """When they had done all that one person is asked."""
    joined: Mapped[float]
    seen: Mapped[float]


class Picture(Base):
    """A picture as it is shown: decoded, turned upright, made small and encoded anew."""

    __tablename__ = "picture"
    __table_args__ = (UniqueConstraint("study_id", "sha"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("study.id"))
    sha: Mapped[str]
    name: Mapped[str]
    """The file's name where it came from, for exports."""
    width: Mapped[int]
    height: Mapped[int]
    content: Mapped[bytes]


class Item(Base):
    """One thing to judge."""

    __tablename__ = "item"
    __table_args__ = (
        UniqueConstraint("study_id", "key"),
        Index("ix_item_role", "study_id", "role", "state"),
        Index(
            "ix_item_next",
            "study_id",
            "role",
            "position",
            sqlite_where=text("free > 0 AND state = 'open'"),
            postgresql_where=text("free > 0 AND state = 'open'"),
        ),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("study.id"))
    key: Mapped[str]
    role: Mapped[str] = mapped_column(default="main")
    state: Mapped[str] = mapped_column(default="open")
    """open or broken."""
    position: Mapped[int]
    content: Mapped[dict[str, Any]]
    """What raters see."""
    origin: Mapped[dict[str, Any]]
    """What they do not: source system, references, file names."""
    expert: Mapped[int | None]
    seed: Mapped[int | None]
    counts: Mapped[str] = mapped_column(default="")
    """People per level, comma between."""
    people: Mapped[int] = mapped_column(default=0)
    wanted: Mapped[int]
    free: Mapped[int]
    """Places not yet rated and not held by a lease."""


class Lease(Base):
    """The item a rater has before them; it keeps their place."""

    __tablename__ = "lease"
    rater_id: Mapped[int] = mapped_column(ForeignKey("rater.id"), primary_key=True)
    item_id: Mapped[int] = mapped_column(ForeignKey("item.id"))
    given: Mapped[float]
    until: Mapped[float] = mapped_column(index=True)


class Lapsed(Base):
    """A lease that ended before its answer came: the answer is still taken when it does come."""

    __tablename__ = "lapsed"
    rater_id: Mapped[int] = mapped_column(ForeignKey("rater.id"), primary_key=True)
    item_id: Mapped[int] = mapped_column(ForeignKey("item.id"), primary_key=True)
    given: Mapped[float]


class Answer(Base):
    __tablename__ = "answer"
    __table_args__ = (
        UniqueConstraint("item_id", "rater_id", "round"),
        Index("ix_answer_rater", "rater_id", "at"),
        Index("ix_answer_study", "study_id", "at"),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("study.id"))
    item_id: Mapped[int] = mapped_column(ForeignKey("item.id"))
    rater_id: Mapped[int] = mapped_column(ForeignKey("rater.id"))
    round: Mapped[int]
    """0 while playing; the training's number in training, where an item may come again."""
    phase: Mapped[str]
    value: Mapped[int | None]
    answers: Mapped[dict[str, Any] | None]
    seconds: Mapped[float]
    """Time in front of the item as the page told it."""
    waited: Mapped[float | None]
    """Time between handing the item out and taking the answer, by the server's clock."""
    before: Mapped[str]
    """People (and standing seeds) per level before this rating: what the feedback was made from."""
    seeds: Mapped[int] = mapped_column(default=0)
    """How many of those were a model's."""
    consensus: Mapped[int | None]
    points: Mapped[int | None]
    returned: Mapped[int] = mapped_column(default=0)
    at: Mapped[float]
    token: Mapped[str] = mapped_column(unique=True)
    """Made by the client: the same submission sent twice counts once."""
    extra: Mapped[bool] = mapped_column(default=False)
    """Came after the place had gone to somebody else; it counts beside the others."""
    state: Mapped[str] = mapped_column(default="kept")
    """kept, accepted, flagged or excluded: what staff made of it. Excluded ones stay, and count nowhere."""
    remark: Mapped[str] = mapped_column(default="")
    """Why, in staff's words."""


class Skip(Base):
    """A rater passed an item over, or reported it as broken."""

    __tablename__ = "skip"
    __table_args__ = (UniqueConstraint("item_id", "rater_id"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    item_id: Mapped[int] = mapped_column(ForeignKey("item.id"))
    rater_id: Mapped[int] = mapped_column(ForeignKey("rater.id"), index=True)
    broken: Mapped[bool]
    reason: Mapped[str] = mapped_column(default="")
    at: Mapped[float]


class Dispute(Base):
    __tablename__ = "dispute"
    id: Mapped[int] = mapped_column(primary_key=True)
    answer_id: Mapped[int] = mapped_column(ForeignKey("answer.id"), unique=True)
    reason: Mapped[str]
    state: Mapped[str] = mapped_column(default="open")
    reply: Mapped[str] = mapped_column(default="")
    opened: Mapped[float]
    decided: Mapped[float | None]


class Audit(Base):
    """What staff did, and when."""

    __tablename__ = "audit"
    id: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[float] = mapped_column(index=True)
    staff: Mapped[str]
    action: Mapped[str]
    subject: Mapped[str] = mapped_column(default="")
    detail: Mapped[str] = mapped_column(default="")
