import { Migration } from '@mikro-orm/migrations';

/** Installations of plugins, what their releases declare, what was approved of them, who may do what with them, and their resources. */
export class Plugins extends Migration {
  override up(): void {
    this.addSql(`create table "plugin_installations" (
  "id" uuid not null,
  "organization_id" uuid null,
  "team_id" uuid null,
  "name" varchar(255) not null,
  "active_release" text null,
  "revision" int not null default 1,
  "created_by" uuid not null,
  "created_at" timestamptz(3) not null,
  primary key ("id"),
  constraint "plugin_installations_owner_check" check (("organization_id" is null) <> ("team_id" is null)),
  constraint "plugin_installations_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on delete restrict,
  constraint "plugin_installations_team_id_foreign" foreign key ("team_id") references "teams" ("id") on delete restrict
)`);
    this.addSql(
      `create unique index "plugin_installations_owner_name_unique" on "plugin_installations" ("organization_id", "team_id", "name") nulls not distinct`,
    );
    this.addSql(`create index "plugin_installations_team_id_index" on "plugin_installations" ("team_id")`);
    this.addSql(`create table "plugin_releases" (
  "id" uuid not null,
  "installation_id" uuid not null,
  "release" text not null,
  "digest" text not null,
  "manifest" bytea null,
  "staged_by" uuid not null,
  "staged_at" timestamptz(3) not null,
  primary key ("id"),
  constraint "plugin_releases_release_unique" unique ("installation_id", "release"),
  constraint "plugin_releases_installation_id_foreign" foreign key ("installation_id") references "plugin_installations" ("id") on delete restrict
)`);
    this.addSql(`create table "plugin_actions" (
  "id" uuid not null,
  "installation_id" uuid not null,
  "name" text not null,
  "selectors" jsonb not null,
  "effects" jsonb not null,
  "is_declared" boolean not null,
  "revision" int not null default 1,
  primary key ("id"),
  constraint "plugin_actions_name_unique" unique ("installation_id", "name"),
  constraint "plugin_actions_installation_id_foreign" foreign key ("installation_id") references "plugin_installations" ("id") on delete restrict
)`);
    this.addSql(`create table "plugin_ceilings" (
  "installation_id" uuid not null,
  "release" text not null,
  "installation_revision" int not null,
  "actions" jsonb not null,
  "executions" jsonb not null,
  "revision" int not null default 1,
  "set_by" uuid not null,
  "set_at" timestamptz(3) not null,
  primary key ("installation_id"),
  constraint "plugin_ceilings_installation_id_foreign" foreign key ("installation_id") references "plugin_installations" ("id") on update cascade on delete restrict
)`);
    this.addSql(`create table "plugin_background_principals" (
  "id" uuid not null,
  "installation_id" uuid not null,
  "selector_type" varchar(255) not null,
  "selector_id" uuid not null,
  "scope_basis" text not null,
  "approved_by" uuid not null,
  "revoked_by" uuid null,
  "revoked_at" timestamptz(3) null,
  "revision" int not null default 1,
  "created_at" timestamptz(3) not null,
  primary key ("id"),
  constraint "plugin_background_principals_id_foreign" foreign key ("id") references "principals" ("id") on update cascade on delete restrict,
  constraint "plugin_background_principals_installation_id_foreign" foreign key ("installation_id") references "plugin_installations" ("id") on delete restrict
)`);
    this.addSql(
      `create index "plugin_background_principals_installation_index" on "plugin_background_principals" ("installation_id", "id")`,
    );
    this.addSql(`create table "plugin_action_grants" (
  "id" uuid not null,
  "installation_id" uuid not null,
  "action_id" uuid not null,
  "subject_type" varchar(255) not null,
  "subject_id" uuid not null,
  "selector_type" varchar(255) not null,
  "selector_id" uuid not null,
  "basis" jsonb not null,
  "granted_by" uuid not null,
  "revoked_by" uuid null,
  "revoked_at" timestamptz(3) null,
  "revision" int not null default 1,
  "created_at" timestamptz(3) not null,
  primary key ("id"),
  constraint "plugin_action_grants_installation_id_foreign" foreign key ("installation_id") references "plugin_installations" ("id") on delete restrict,
  constraint "plugin_action_grants_action_id_foreign" foreign key ("action_id") references "plugin_actions" ("id") on delete restrict,
  constraint "plugin_action_grants_subject_id_foreign" foreign key ("subject_id") references "principals" ("id") on delete restrict
)`);
    this.addSql(
      `create index "plugin_action_grants_installation_index" on "plugin_action_grants" ("installation_id", "id")`,
    );
    this.addSql(
      `create index "plugin_action_grants_subject_index" on "plugin_action_grants" ("action_id", "subject_id")`,
    );
    this.addSql(`create table "plugin_resources" (
  "id" uuid not null,
  "installation_id" uuid not null,
  "type" text not null,
  "name" varchar(255) not null,
  "key" text not null,
  "roots" jsonb not null,
  "team_id" uuid not null,
  "project_id" uuid null,
  "environment_id" uuid null,
  "revision" int not null default 1,
  "eligibility_generation" int not null default 1,
  "created_by" uuid not null,
  "created_at" timestamptz(3) not null,
  "deleted_at" timestamptz(3) null,
  "deleted_from" jsonb null,
  primary key ("id"),
  constraint "plugin_resources_installation_id_foreign" foreign key ("installation_id") references "plugin_installations" ("id") on delete restrict,
  constraint "plugin_resources_team_id_foreign" foreign key ("team_id") references "teams" ("id") on delete restrict,
  constraint "plugin_resources_project_id_foreign" foreign key ("project_id") references "projects" ("id") on delete restrict,
  constraint "plugin_resources_environment_id_foreign" foreign key ("environment_id") references "environments" ("id") on delete restrict
)`);
    this.addSql(
      `create unique index "plugin_resources_key_unique" on "plugin_resources" ("installation_id", "type", "key") where "deleted_at" is null`,
    );
    this.addSql(`create index "plugin_resources_installation_index" on "plugin_resources" ("installation_id", "id")`);
    for (const owner of ['team', 'project', 'environment'])
      this.addSql(`create index "plugin_resources_${owner}_id_index" on "plugin_resources" ("${owner}_id", "id")`);
    this.addSql(`create table "plugin_restorations" (
  "id" uuid not null,
  "resource_id" uuid not null,
  "request" jsonb not null,
  "requested_by" uuid not null,
  "status" varchar(255) not null,
  "problem" jsonb null,
  "created_at" timestamptz(3) not null,
  "ended_at" timestamptz(3) null,
  primary key ("id"),
  constraint "plugin_restorations_resource_id_foreign" foreign key ("resource_id") references "plugin_resources" ("id") on delete restrict
)`);
    this.addSql(`create index "plugin_restorations_resource_index" on "plugin_restorations" ("resource_id")`);
  }
}
