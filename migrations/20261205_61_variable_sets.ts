import { Migration } from '@mikro-orm/migrations';

/** Keeps named sets of variables, which projects and environments give their runs, and where a run's variables came from. */
export class VariableSets extends Migration {
  override up(): void {
    this.addSql(`
      create table "variable_sets" (
        "id" uuid not null,
        "organization_id" uuid null constraint "variable_sets_organization_id_foreign" references "organizations" ("id") on delete restrict,
        "team_id" uuid null constraint "variable_sets_team_id_foreign" references "teams" ("id") on delete restrict,
        "project_id" uuid null constraint "variable_sets_project_id_foreign" references "projects" ("id") on delete restrict,
        "name" varchar(255) not null,
        "description" text not null default '',
        "removed_variable_revision" int not null default 0,
        "revision" int not null default 1,
        "created_at" timestamptz(3) not null,
        primary key ("id"),
        constraint "variable_sets_owner" check (num_nonnulls("organization_id", "team_id") = 1 and ("project_id" is null or "team_id" is not null))
      )`);
    this.addSql(
      `create unique index "variable_sets_name_unique" on "variable_sets" ("organization_id", "team_id", "project_id", "name") nulls not distinct`,
    );
    this.addSql(`create index "variable_sets_team_id_index" on "variable_sets" ("team_id")`);
    this.addSql(`create index "variable_sets_project_id_index" on "variable_sets" ("project_id")`);
    this.addSql(`
      create table "variable_set_variables" (
        "variable_set_id" uuid not null constraint "variable_set_variables_variable_set_id_foreign" references "variable_sets" ("id") on delete cascade,
        "name" varchar(255) not null,
        "category" varchar(255) not null,
        "sensitive" boolean not null,
        "value" jsonb null,
        "sealed_value" bytea null,
        "plan_value" jsonb null,
        "sealed_plan_value" bytea null,
        "in_plan" boolean not null default true,
        "in_apply" boolean not null default true,
        "set_by" uuid null,
        "revision" int not null default 1,
        "updated_at" timestamptz(3) not null,
        primary key ("variable_set_id", "name")
      )`);
    this.addSql(`
      create table "variable_set_attachments" (
        "id" uuid not null,
        "variable_set_id" uuid not null constraint "variable_set_attachments_variable_set_id_foreign" references "variable_sets" ("id") on delete cascade,
        "project_id" uuid null constraint "variable_set_attachments_project_id_foreign" references "projects" ("id") on delete restrict,
        "environment_id" uuid null constraint "variable_set_attachments_environment_id_foreign" references "environments" ("id") on delete restrict,
        primary key ("id"),
        constraint "variable_set_attachments_place" check (num_nonnulls("project_id", "environment_id") = 1)
      )`);
    this.addSql(
      `create unique index "variable_set_attachments_project_unique" on "variable_set_attachments" ("project_id", "variable_set_id") where "project_id" is not null`,
    );
    this.addSql(
      `create unique index "variable_set_attachments_environment_unique" on "variable_set_attachments" ("environment_id", "variable_set_id") where "environment_id" is not null`,
    );
    this.addSql(
      `create index "variable_set_attachments_variable_set_id_index" on "variable_set_attachments" ("variable_set_id")`,
    );
    this.addSql(`alter table "runs" add column "variable_sources" jsonb null`);
  }
}
