import { Migration } from '@mikro-orm/migrations';

/** Adds connections, which keep credentials for systems outside. The installation, an organization, a team or a project owns one. */
export class Connections extends Migration {
  override up(): void {
    this.addSql(`
      create table "connections" (
        "id" uuid not null,
        "organization_id" uuid null,
        "team_id" uuid null,
        "project_id" uuid null,
        "name" varchar(255) not null,
        "kind" varchar(255) not null,
        "config" jsonb not null,
        "provides" jsonb not null,
        "sealed_key" bytea not null,
        "sealed_credentials" bytea not null,
        "credential_revision" int not null,
        "credentials_set_at" timestamptz(3) not null,
        "revision" int not null default 1,
        "created_at" timestamptz(3) not null,
        primary key ("id")
      )
    `);
    this.addSql(
      `alter table "connections" add constraint "connections_owner_name_unique" unique nulls not distinct ("organization_id", "team_id", "project_id", "name")`,
    );
    this.addSql(
      `alter table "connections" add constraint "connections_owner_check" check (("project_id" is null or "team_id" is not null) and ("organization_id" is null or "team_id" is null))`,
    );
    for (const [column, table] of [
      ['organization_id', 'organizations'],
      ['team_id', 'teams'],
      ['project_id', 'projects'],
    ] as const) {
      this.addSql(
        `alter table "connections" add constraint "connections_${column}_foreign" foreign key ("${column}") references "${table}" ("id") on delete restrict`,
      );
    }
    this.addSql(`create index "connections_team_id_index" on "connections" ("team_id")`);
    this.addSql(`create index "connections_project_id_index" on "connections" ("project_id")`);
  }
}
