import { Migration } from '@mikro-orm/migrations';

/** Adds schedules, which start runs and assembly runs at set times, and what became of each time. */
export class Schedules extends Migration {
  override up(): void {
    this.addSql(`
      create table "schedules" (
        "id" uuid not null,
        "team_id" uuid not null,
        "environment_id" uuid null,
        "template_id" uuid null,
        "assembly_id" uuid null,
        "name" varchar(255) not null,
        "spec" jsonb not null,
        "work" jsonb not null,
        "sealed_work" bytea not null,
        "is_enabled" boolean not null,
        "authority_id" uuid not null,
        "authority_type" varchar(255) not null,
        "authority_name" varchar(255) not null,
        "credential_id" uuid null,
        "responsible_user_id" uuid null,
        "saved_for_organization_id" uuid not null,
        "saved_for_team_id" uuid not null,
        "times_author" jsonb null,
        "revision" int not null default 1,
        "created_at" timestamptz(3) not null,
        primary key ("id")
      )
    `);
    this.addSql(`create index "schedules_team_id_index" on "schedules" ("team_id", "id")`);
    for (const [column, table] of [
      ['team_id', 'teams'],
      ['environment_id', 'environments'],
      ['template_id', 'templates'],
      ['assembly_id', 'assemblies'],
    ] as const) {
      this.addSql(
        `alter table "schedules" add constraint "schedules_${column}_foreign" foreign key ("${column}") references "${table}" ("id") on delete restrict`,
      );
    }
    this.addSql(`
      create table "schedule_firings" (
        "id" uuid not null,
        "schedule_id" uuid not null,
        "scheduled_at" timestamptz(3) not null,
        "outcome" varchar(255) not null,
        "reason" varchar(255) null,
        "message" text null,
        "run_id" uuid null,
        "assembly_run_id" uuid null,
        "requester_name" varchar(255) null,
        "author" jsonb null,
        "created_at" timestamptz(3) not null,
        primary key ("id")
      )
    `);
    this.addSql(
      `alter table "schedule_firings" add constraint "schedule_firings_schedule_id_scheduled_at_unique" unique ("schedule_id", "scheduled_at")`,
    );
    this.addSql(
      `alter table "schedule_firings" add constraint "schedule_firings_schedule_id_foreign" foreign key ("schedule_id") references "schedules" ("id") on delete cascade`,
    );
  }
}
