"""The script that Alembic runs: the migrations, on the connection that `service.store.migrate` passes."""

from alembic import context

from service.store.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,  # SQLite cannot change a column, so the table is copied
)
with context.begin_transaction():
    context.run_migrations()
