"""Staff with roles, files chosen for a study, previews; one spelling of the phase in which answers count"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.add_column("staff", sa.Column("admin", sa.Boolean(), nullable=False, server_default=sa.true()))
    op.add_column("study", sa.Column("preview_until", sa.Double(), nullable=True))
    op.create_table(
        "member",
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("staff_id", sa.Integer(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_member_study_id")),
        sa.ForeignKeyConstraint(["staff_id"], ["staff.id"], name=op.f("fk_member_staff_id")),
        sa.PrimaryKeyConstraint("study_id", "staff_id", name=op.f("pk_member")),
    )
    op.create_table(
        "upload",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("batch", sa.String(), nullable=False),
        sa.Column("staff_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("width", sa.Integer(), nullable=False),
        sa.Column("height", sa.Integer(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["staff_id"], ["staff.id"], name=op.f("fk_upload_staff_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_upload")),
        sa.UniqueConstraint("batch", "name", name=op.f("uq_upload_batch_name")),
    )
    _rename("playing", "play")


def downgrade() -> None:
    _rename("play", "playing")
    op.drop_table("upload")
    op.drop_table("member")
    op.drop_column("study", "preview_until")
    op.drop_column("staff", "admin")


def _rename(old: str, new: str) -> None:
    for name in ("rater", "answer"):
        table = sa.table(name, sa.column("phase", sa.String))
        op.execute(table.update().where(table.c.phase == old).values(phase=new))
