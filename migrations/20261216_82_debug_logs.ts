import { Migration } from '@mikro-orm/migrations';

/** The debug logs of runs that asked for one, apart from their logs: they may hold secrets that nothing redacts. */
export class DebugLogs extends Migration {
  override up(): void {
    this.addSql(`
      create table "run_debug_logs" (
        "attempt_id" uuid not null,
        "run_id" uuid not null,
        "phase" varchar(255) not null,
        "level" varchar(255) not null,
        "bytes" int not null,
        "content" bytea not null,
        "created_at" timestamptz(3) not null,
        primary key ("attempt_id")
      )
    `);
    this.addSql(`create index "run_debug_logs_run_id_index" on "run_debug_logs" ("run_id")`);
    this.addSql(`create index "run_debug_logs_created_at_index" on "run_debug_logs" ("created_at")`);
    this.addSql(
      `alter table "run_debug_logs" add constraint "run_debug_logs_run_id_foreign" foreign key ("run_id") references "runs" ("id") on delete restrict`,
    );
  }
}
