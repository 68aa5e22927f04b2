import { Migration } from '@mikro-orm/migrations';

/** Adds drift monitors, their scans, and what these found. */
export class Drift extends Migration {
  override up(): void {
    this.#addMonitors();
    this.#addScans();
    this.#addFindings();
    this.#addEvidence();
  }

  #addMonitors(): void {
    this.addSql(`
      create table "drift_monitors" (
        "id" uuid not null,
        "scope" varchar(255) not null,
        "team_id" uuid null,
        "environment_id" uuid null,
        "template_id" uuid null,
        "instance_id" uuid null,
        "inherited_from" uuid null,
        "schedule" jsonb not null,
        "enabled" boolean not null default true,
        "ignore_rules" jsonb not null default '[]',
        "last_scan_at" timestamptz(3) null,
        "last_success_at" timestamptz(3) null,
        "last_failure" jsonb null,
        "revision" int not null default 1,
        "created_at" timestamptz(3) not null,
        "deleted_at" timestamptz(3) null,
        primary key ("id")
      )
    `);
    this.addSql(
      `create unique index "drift_monitors_instance_unique" on "drift_monitors" ("instance_id") where "instance_id" is not null and "deleted_at" is null`,
    );
    this.addSql(
      `create unique index "drift_monitors_environment_unique" on "drift_monitors" ("environment_id") where "scope" = 'environment' and "deleted_at" is null`,
    );
    this.addSql(
      `create unique index "drift_monitors_template_unique" on "drift_monitors" ("template_id") where "scope" = 'template' and "deleted_at" is null`,
    );
    this.addSql(`create index "drift_monitors_team_id_index" on "drift_monitors" ("team_id", "id")`);
    this.addSql(
      `create index "drift_monitors_environment_index" on "drift_monitors" ("environment_id", "id") where "environment_id" is not null`,
    );
    this.addSql(
      `create index "drift_monitors_inherited_from_index" on "drift_monitors" ("inherited_from", "id") where "inherited_from" is not null`,
    );
  }

  #addScans(): void {
    this.addSql(`
      create table "drift_scans" (
        "run_id" uuid not null,
        "monitor_id" uuid not null,
        "trigger" varchar(255) not null,
        "deployed_run_id" uuid not null,
        "created_at" timestamptz(3) not null,
        "recorded_at" timestamptz(3) null,
        "outcome" varchar(255) null,
        "reason" varchar(255) null,
        "found" int null,
        "ignored" int null,
        "opened" int null,
        "resolved" int null,
        primary key ("run_id")
      )
    `);
    this.addSql(
      `create unique index "drift_scans_unfinished_unique" on "drift_scans" ("monitor_id") where "recorded_at" is null`,
    );
    this.addSql(`create index "drift_scans_monitor_index" on "drift_scans" ("monitor_id", "run_id")`);
    this.addSql(
      `alter table "drift_scans" add constraint "drift_scans_monitor_id_foreign" foreign key ("monitor_id") references "drift_monitors" ("id") on delete restrict`,
    );
  }

  #addFindings(): void {
    this.addSql(`
      create table "drift_findings" (
        "id" uuid not null,
        "monitor_id" uuid not null,
        "team_id" uuid null,
        "instance_id" uuid not null,
        "identity" varchar(255) not null,
        "address" text not null,
        "path" text not null,
        "status" varchar(255) not null,
        "reason" varchar(255) not null,
        "first_seen_at" timestamptz(3) not null,
        "last_seen_at" timestamptz(3) not null,
        "seen_count" int not null,
        "observed" varchar(255) not null,
        "evidence_id" uuid not null,
        "last_run_id" uuid not null,
        "suppressed_value" varchar(255) null,
        "suppressed_until" timestamptz(3) null,
        "suppression_reason" text null,
        "suppressed_by_name" varchar(255) null,
        "reopen_reason" text null,
        "revision" int not null default 1,
        "created_at" timestamptz(3) not null,
        primary key ("id")
      )
    `);
    this.addSql(
      `alter table "drift_findings" add constraint "drift_findings_identity_unique" unique ("monitor_id", "identity")`,
    );
    this.addSql(`create index "drift_findings_monitor_index" on "drift_findings" ("monitor_id", "id")`);
    this.addSql(
      `create index "drift_findings_monitor_status_index" on "drift_findings" ("monitor_id", "status", "id")`,
    );
    this.addSql(`create index "drift_findings_last_run_index" on "drift_findings" ("last_run_id", "id")`);
    this.addSql(`create index "drift_findings_team_index" on "drift_findings" ("team_id", "id")`);
    this.addSql(`create index "drift_findings_team_status_index" on "drift_findings" ("team_id", "status", "id")`);
    this.addSql(`create index "drift_findings_status_index" on "drift_findings" ("status", "id")`);
    this.addSql(`create index "drift_findings_instance_index" on "drift_findings" ("instance_id", "status", "id")`);
    this.addSql(
      `create index "drift_findings_suppressed_index" on "drift_findings" ("suppressed_until", "id") where "suppressed_until" is not null`,
    );
    this.addSql(
      `alter table "drift_findings" add constraint "drift_findings_monitor_id_foreign" foreign key ("monitor_id") references "drift_monitors" ("id") on delete restrict`,
    );
  }

  #addEvidence(): void {
    this.addSql(`
      create table "drift_evidence" (
        "id" uuid not null,
        "finding_id" uuid not null,
        "run_id" uuid not null,
        "before" jsonb null,
        "after" jsonb null,
        "sensitive" boolean not null,
        "action" varchar(255) not null,
        "observed" varchar(255) not null,
        "state_serial" int not null,
        "deployed_run_id" uuid null,
        "template_version" varchar(255) not null,
        "tool" jsonb null,
        "slot_held_by" uuid null,
        "observed_at" timestamptz(3) not null,
        primary key ("id")
      )
    `);
    this.addSql(`create index "drift_evidence_finding_index" on "drift_evidence" ("finding_id", "id")`);
    this.addSql(
      `alter table "drift_evidence" add constraint "drift_evidence_finding_id_foreign" foreign key ("finding_id") references "drift_findings" ("id") on delete restrict`,
    );
  }
}
