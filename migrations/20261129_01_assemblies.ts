import { Migration } from '@mikro-orm/migrations';

/** Adds assemblies, their versions, their runs and the nodes of these, and lets a run be part of one. */
export class Assemblies extends Migration {
  override up(): void {
    this.addSql(`
      create table "assemblies" (
        "id" uuid not null,
        "team_id" uuid not null,
        "name" varchar(255) not null,
        "slug" varchar(255) not null,
        "description" text not null default '',
        "draft_source" text null,
        "draft_spec" jsonb null,
        "draft_revision" int not null default 0,
        "draft_changed_by" uuid null,
        "draft_changed_at" timestamptz(3) null,
        "revision" int not null default 1,
        "created_at" timestamptz(3) not null,
        "archived_at" timestamptz(3) null,
        "deleted_at" timestamptz(3) null,
        primary key ("id")
      )
    `);
    this.addSql(
      `create unique index "assemblies_team_slug_unique" on "assemblies" ("team_id", "slug") where "deleted_at" is null`,
    );
    this.addSql(`create index "assemblies_team_id_index" on "assemblies" ("team_id", "id")`);
    this.addSql(
      `alter table "assemblies" add constraint "assemblies_team_id_foreign" foreign key ("team_id") references "teams" ("id") on delete restrict`,
    );
    this.addSql(`
      create table "assembly_versions" (
        "id" uuid not null,
        "assembly_id" uuid not null,
        "version" varchar(255) not null,
        "spec" jsonb not null,
        "source" text not null,
        "templates" jsonb not null,
        "dependencies" jsonb not null,
        "digest" varchar(255) not null,
        "changelog" text not null default '',
        "published_by" uuid not null,
        "responsible_user_id" uuid null,
        "created_at" timestamptz(3) not null,
        primary key ("id")
      )
    `);
    this.addSql(
      `alter table "assembly_versions" add constraint "assembly_versions_assembly_version_unique" unique ("assembly_id", "version")`,
    );
    this.addSql(
      `alter table "assembly_versions" add constraint "assembly_versions_assembly_id_foreign" foreign key ("assembly_id") references "assemblies" ("id") on delete restrict`,
    );
    this.#addRuns();
    this.#addNodes();
    this.addSql(`
      alter table "runs"
        add column "assembly_node_id" uuid null,
        add column "watched_by" uuid null,
        add column "authors" jsonb not null default '[]'
    `);
    this.addSql(
      `create index "runs_assembly_node_index" on "runs" ("assembly_node_id", "id") where "assembly_node_id" is not null`,
    );
    this.addSql(
      `create index "runs_assembly_run_index" on "runs" ("assembly_run_id", "id") where "assembly_run_id" is not null`,
    );
  }

  #addRuns(): void {
    this.addSql(`
      create table "assembly_runs" (
        "id" uuid not null,
        "idempotency_key" uuid not null,
        "workflow_id" uuid not null,
        "assembly_id" uuid not null,
        "assembly_version_id" uuid not null,
        "version" varchar(255) not null,
        "team_id" uuid not null,
        "project_id" uuid not null,
        "environment_id" uuid not null,
        "operation" varchar(255) not null,
        "status" varchar(255) not null,
        "status_reason" varchar(255) null,
        "only" jsonb null,
        "concurrency" int not null,
        "variables" jsonb not null,
        "sealed_variables" bytea not null,
        "outputs" jsonb not null,
        "message" text not null default '',
        "requested_by_id" uuid not null,
        "requested_by_type" varchar(255) not null,
        "requested_by_name" varchar(255) not null,
        "authority_id" uuid not null,
        "credential_id" uuid null,
        "responsible_user_id" uuid null,
        "authors" jsonb not null,
        "cancel_reason" text null,
        "canceled_by_name" varchar(255) null,
        "revision" int not null default 1,
        "created_at" timestamptz(3) not null,
        "started_at" timestamptz(3) null,
        "finished_at" timestamptz(3) null,
        primary key ("id")
      )
    `);
    this.addSql(
      `alter table "assembly_runs" add constraint "assembly_runs_idempotency_key_unique" unique ("idempotency_key")`,
    );
    this.addSql(`alter table "assembly_runs" add constraint "assembly_runs_workflow_id_unique" unique ("workflow_id")`);
    for (const owner of ['assembly_id', 'environment_id', 'team_id'])
      this.addSql(`create index "assembly_runs_${owner}_index" on "assembly_runs" ("${owner}", "id")`);
    this.addSql(`create index "assembly_runs_unfinished_index" on "assembly_runs" ("id") where "finished_at" is null`);
    this.addSql(
      `alter table "assembly_runs" add constraint "assembly_runs_assembly_id_foreign" foreign key ("assembly_id") references "assemblies" ("id") on delete restrict`,
    );
    this.addSql(
      `alter table "assembly_runs" add constraint "assembly_runs_assembly_version_id_foreign" foreign key ("assembly_version_id") references "assembly_versions" ("id") on delete restrict`,
    );
  }

  #addNodes(): void {
    this.addSql(`
      create table "assembly_nodes" (
        "id" uuid not null,
        "assembly_run_id" uuid not null,
        "key" varchar(255) not null,
        "position" int not null,
        "waits_for" jsonb not null,
        "spec" jsonb not null,
        "template_id" uuid not null,
        "template_version_id" uuid not null,
        "template_version" varchar(255) not null,
        "instance" varchar(255) not null,
        "status" varchar(255) not null,
        "reason" jsonb null,
        "waiting" jsonb null,
        "run_id" uuid null,
        "tries" int not null default 0,
        "next_try_at" timestamptz(3) null,
        "started_at" timestamptz(3) null,
        "finished_at" timestamptz(3) null,
        primary key ("id")
      )
    `);
    this.addSql(
      `alter table "assembly_nodes" add constraint "assembly_nodes_run_key_unique" unique ("assembly_run_id", "key")`,
    );
    this.addSql(
      `alter table "assembly_nodes" add constraint "assembly_nodes_assembly_run_id_foreign" foreign key ("assembly_run_id") references "assembly_runs" ("id") on delete restrict`,
    );
  }
}
