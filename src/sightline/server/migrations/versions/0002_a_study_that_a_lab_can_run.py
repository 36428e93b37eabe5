"""Review of answers, late answers, taking back, people from crowd platforms"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

RATER = {
    "begun": sa.String,
    "participant": sa.JSON,
    "participant_key": sa.String,
    "notice": sa.JSON,
    "last": sa.JSON,
    "finished": sa.Double,
}
ANSWER = ("waited", "seeds", "extra", "state", "remark")


def upgrade() -> None:
    for name, kind in RATER.items():
        op.add_column("rater", sa.Column(name, kind(), nullable=True))
    op.add_column("answer", sa.Column("waited", sa.Double(), nullable=True))
    op.add_column("answer", sa.Column("seeds", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("answer", sa.Column("extra", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("answer", sa.Column("state", sa.String(), nullable=False, server_default="kept"))
    op.add_column("answer", sa.Column("remark", sa.String(), nullable=False, server_default=""))
    op.create_index("ix_rater_begun", "rater", ["begun"], unique=True)
    op.create_index("ix_rater_participant", "rater", ["study_id", "participant_key"], unique=True)
    op.create_table(
        "lapsed",
        sa.Column("rater_id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("given", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name=op.f("fk_lapsed_item_id")),
        sa.ForeignKeyConstraint(["rater_id"], ["rater.id"], name=op.f("fk_lapsed_rater_id")),
        sa.PrimaryKeyConstraint("rater_id", "item_id", name=op.f("pk_lapsed")),
    )


def downgrade() -> None:
    op.drop_table("lapsed")
    op.drop_index("ix_rater_participant", "rater")
    op.drop_index("ix_rater_begun", "rater")
    for name in reversed(ANSWER):
        op.drop_column("answer", name)
    for name in reversed(RATER):
        op.drop_column("rater", name)
