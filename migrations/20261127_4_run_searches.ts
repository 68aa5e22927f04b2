import { Migration } from '@mikro-orm/migrations';

/**
 * Lists of runs by requester, by operation and by status over all teams cost the same however rare those are among a million
 * others, and statistics read an index instead of the runs. The indexes by operation leave out the usual one, which any list finds soon.
 */
export class RunSearches extends Migration {
  override up(): void {
    this.addSql(`create index "runs_requested_by_index" on "runs" ("requested_by_id", "id")`);
    this.addSql(`create index "runs_finished_status_index" on "runs" ("status", "id") where "finished_at" is not null`);
    this.addSql(
      `create index "runs_team_operation_index" on "runs" ("team_id", "operation", "id") where "operation" <> 'apply'`,
    );
    this.addSql(`create index "runs_operation_index" on "runs" ("operation", "id") where "operation" <> 'apply'`);
    this.addSql(
      `create index "runs_outcomes_index" on "runs" ("team_id", "created_at") include ("status", "started_at", "finished_at") where "finished_at" is not null and "deleted_at" is null`,
    );
  }
}
