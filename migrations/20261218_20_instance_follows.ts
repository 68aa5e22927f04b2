import { Migration } from '@mikro-orm/migrations';

/**
 * Stores which instances follow the outputs that they were deployed with, under whose authority, and which run another one was started after. Older
 * instances follow nothing.
 */
export class InstanceFollows extends Migration {
  override up(): void {
    this.addSql(`
      create table "instance_follows" (
        "instance_id" uuid not null,
        "authority_id" uuid not null,
        "authority_type" varchar(255) not null,
        "authority_name" varchar(255) not null,
        "credential_id" uuid null,
        "responsible_user_id" uuid null,
        "saved_for_organization_id" uuid not null,
        "saved_for_team_id" uuid not null,
        "saved_at" timestamptz(3) not null,
        "seen" text not null,
        "failure" jsonb null,
        primary key ("instance_id")
      )
    `);
    this.addSql(
      `alter table "instance_follows" add constraint "instance_follows_instance_id_foreign" foreign key ("instance_id") references "instances" ("id") on update cascade on delete cascade`,
    );
    this.addSql(`alter table "runs" add column "started_by_run_id" uuid null`);
    this.addSql(
      `create index "runs_started_by_run_index" on "runs" ("started_by_run_id", "id") where "started_by_run_id" is not null`,
    );
  }
}
