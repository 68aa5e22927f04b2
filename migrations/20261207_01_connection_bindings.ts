import { Migration } from '@mikro-orm/migrations';

/** Keeps which connections projects and environments give their runs, and which ones a run has used. */
export class ConnectionBindings extends Migration {
  override up(): void {
    this.addSql(`
      create table "connection_bindings" (
        "id" uuid not null,
        "project_id" uuid null constraint "connection_bindings_project_id_foreign" references "projects" ("id") on delete restrict,
        "environment_id" uuid null constraint "connection_bindings_environment_id_foreign" references "environments" ("id") on delete restrict,
        "name" varchar(255) not null,
        "connection_id" uuid not null constraint "connection_bindings_connection_id_foreign" references "connections" ("id") on delete cascade,
        "in_plan" boolean not null,
        "in_apply" boolean not null,
        "bound_by" uuid not null,
        "bound_by_generation" int not null,
        "bound_at" timestamptz(3) not null,
        primary key ("id"),
        constraint "connection_bindings_place" check (num_nonnulls("project_id", "environment_id") = 1)
      )`);
    this.addSql(
      `create unique index "connection_bindings_project_unique" on "connection_bindings" ("project_id", "name") where "project_id" is not null`,
    );
    this.addSql(
      `create unique index "connection_bindings_environment_unique" on "connection_bindings" ("environment_id", "name") where "environment_id" is not null`,
    );
    this.addSql(`create index "connection_bindings_connection_id_index" on "connection_bindings" ("connection_id")`);
    this.addSql(`create index "connection_bindings_bound_by_index" on "connection_bindings" ("bound_by")`);
    this.addSql(`alter table "runs" add column "connections" jsonb not null default '[]'`);
  }
}
