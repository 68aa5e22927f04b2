import { Migration } from '@mikro-orm/migrations';

/** Adds quotas, and what instances use of the ones that are counted in bytes. */
export class Quotas extends Migration {
  override up(): void {
    this.addSql(`
      create table "quotas" (
        "id" uuid not null,
        "scope" varchar(255) not null,
        "organization_id" uuid null,
        "team_id" uuid null,
        "environment_id" uuid null,
        "limits" jsonb not null,
        "revision" int not null default 1,
        "created_at" timestamptz(3) not null,
        "updated_at" timestamptz(3) not null,
        primary key ("id"),
        constraint "quotas_one_owner_check" check (num_nonnulls(organization_id, team_id, environment_id) = case scope when 'installation' then 0 else 1 end)
      )
    `);
    this.addSql(
      `create unique index "quotas_installation_unique" on "quotas" ("scope") where "scope" = 'installation'`,
    );
    for (const owner of ['organization', 'team', 'environment']) {
      this.addSql(
        `create unique index "quotas_${owner}_unique" on "quotas" ("${owner}_id") where "${owner}_id" is not null`,
      );
    }
    this.addSql(`
      create table "quota_crossings" (
        "subject" varchar(255) not null,
        "kind" varchar(255) not null,
        "published_at" timestamptz(3) not null,
        "is_over" boolean not null,
        primary key ("subject", "kind")
      )
    `);
    this.#addUsage();
  }

  /** What was written before is counted when somebody first limits it, or recounts. */
  #addUsage(): void {
    this.addSql(`
      create table "instance_usages" (
        "instance_id" uuid not null,
        "month" date not null,
        "state_bytes" bigint not null,
        "log_bytes" bigint not null,
        primary key ("instance_id", "month")
      )
    `);
    this.addSql(
      `create index "runs_unfinished_team_index" on "runs" ("team_id", "status") where "finished_at" is null and "operation" <> 'scan'`,
    );
    this.addSql(`create index "instances_team_id_index" on "instances" ("team_id") where "deleted_at" is null`);
  }
}
