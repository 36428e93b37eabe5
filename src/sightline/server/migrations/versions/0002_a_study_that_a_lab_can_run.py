"""Review of answers, late answers, taking back, people from crowd platforms"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

RATER = (
    sa.Column("begun", sa.String(), nullable=True),
    sa.Column("participant", sa.JSON(), nullable=True),
    sa.Column("participant_key", sa.String(), nullable=True),
    sa.Column("notice", sa.JSON(), nullable=True),
    sa.Column("last", sa.JSON(), nullable=True),
    sa.Column("finished", sa.Double(), nullable=True),
)
ANSWER = (
    sa.Column("waited", sa.Double(), nullable=True),
    sa.Column("seeds", sa.Integer(), nullable=False, server_default="0"),
    sa.Column("extra", sa.Boolean(), nullable=False, server_default=sa.false()),
    sa.Column("state", sa.String(), nullable=False, server_default="kept"),
    sa.Column("remark", sa.String(), nullable=False, server_default=""),
)


def upgrade() -> None:
    for table, columns in (("rater", RATER), ("answer", ANSWER)):
        for column in columns:
            op.add_column(table, column.copy())
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
    for table, columns in (("answer", ANSWER), ("rater", RATER)):
        for column in reversed(columns):
            op.drop_column(table, column.name)
