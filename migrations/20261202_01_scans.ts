import { Migration } from '@mikro-orm/migrations';

/**
 * Lets a run be a scan for a drift monitor. Scans come by the hour, so the indexes by which runs are listed and counted leave them out: there may
 * be thousands of scans for each other run. Scans are listed by the indexes of operations.
 */
export class Scans extends Migration {
  override up(): void {
    this.addSql(`alter table "runs" add column "drift_monitor_id" uuid null`);
    this.addSql(
      `create index "runs_drift_monitor_index" on "runs" ("drift_monitor_id", "id") where "drift_monitor_id" is not null`,
    );
    this.addSql(
      `create index "runs_unfinished_scans_index" on "runs" ("instance_id") where "operation" = 'scan' and "finished_at" is null`,
    );
    this.addSql(`create index "runs_listed_index" on "runs" ("id") where "operation" <> 'scan'`);
    for (const [name, columns, condition] of listed) {
      this.addSql(`drop index "${name}"`);
      this.addSql(`create index "${name}" on "runs" ${columns} where ${condition} "operation" <> 'scan'`);
    }
  }
}

/** The indexes of lists and counts. */
const listed = [
  ['runs_team_id_index', '("team_id", "id")', ''],
  ['runs_template_id_index', '("template_id", "id")', ''],
  ['runs_requested_by_index', '("requested_by_id", "id")', ''],
  ['runs_finished_index', '("team_id", "status", "id")', '"finished_at" is not null and'],
  ['runs_finished_status_index', '("status", "id")', '"finished_at" is not null and'],
  [
    'runs_outcomes_index',
    '("team_id", "created_at") include ("status", "started_at", "finished_at")',
    '"finished_at" is not null and "deleted_at" is null and',
  ],
] as const;
