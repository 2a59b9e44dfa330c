"""Alembic's entry point: runs the migrations on the connection in its configuration."""

from alembic import context

from nur.adapters.sql.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transactional_ddl=False,  # the caller runs all steps in one transaction
    render_as_batch=True,
)
context.run_migrations()
