"""Alembic's entry: runs the migrations on the connection that it is handed."""

from alembic import context

from nur.adapters.sql.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transactional_ddl=False,  # the caller holds one transaction round everything
    render_as_batch=True,
)
context.run_migrations()
