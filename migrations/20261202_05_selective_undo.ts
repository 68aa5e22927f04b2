import { Migration } from '@mikro-orm/migrations';

/** Adds attempts at undoing what one run changed, and the plans of their candidates. */
export class SelectiveUndo extends Migration {
  override up(): void {
    this.addSql(`
      create table "selective_undo_attempts" (
        "id" uuid not null,
        "run_id" uuid not null,
        "instance_id" uuid not null,
        "state" varchar(255) not null,
        "problem" jsonb null,
        "verdicts" jsonb not null,
        "changes" jsonb not null,
        "candidate" jsonb null,
        "collateral" jsonb null,
        "state_serial" int not null,
        "deployed_run_id" uuid null,
        "baseline_run_id" uuid null,
        "promoted_run_id" uuid null,
        "requested_by_id" uuid not null,
        "requested_by_type" varchar(255) not null,
        "requested_by_name" varchar(255) not null,
        "responsible_user_id" uuid null,
        "revision" int not null default 1,
        "created_at" timestamptz(3) not null,
        "checked_at" timestamptz(3) null,
        primary key ("id")
      )
    `);
    for (const run of ['baseline_run_id', 'promoted_run_id'])
      this.addSql(
        `alter table "selective_undo_attempts" add constraint "selective_undo_attempts_${run}_unique" unique ("${run}")`,
      );
    this.addSql(`create index "selective_undo_attempts_run_id_index" on "selective_undo_attempts" ("run_id", "id")`);
    this.addSql(
      `create index "selective_undo_attempts_checking_index" on "selective_undo_attempts" ("instance_id") where "state" = 'checking'`,
    );
    this.addSql(`
      create table "selective_undo_candidate_checks" (
        "id" uuid not null,
        "attempt_id" uuid not null,
        "run_id" uuid not null,
        "state" varchar(255) not null,
        "problem" jsonb null,
        "collateral" jsonb null,
        "requested_by_id" uuid not null,
        "requested_by_type" varchar(255) not null,
        "requested_by_name" varchar(255) not null,
        "responsible_user_id" uuid null,
        "created_at" timestamptz(3) not null,
        "finished_at" timestamptz(3) null,
        primary key ("id")
      )
    `);
    this.addSql(
      `alter table "selective_undo_candidate_checks" add constraint "selective_undo_candidate_checks_run_id_unique" unique ("run_id")`,
    );
    this.addSql(
      `create index "selective_undo_candidate_checks_attempt_id_index" on "selective_undo_candidate_checks" ("attempt_id", "id")`,
    );
    this.addSql(
      `alter table "selective_undo_candidate_checks" add constraint "selective_undo_candidate_checks_attempt_id_foreign" foreign key ("attempt_id") references "selective_undo_attempts" ("id") on delete restrict`,
    );
  }
}
