import { Migration } from '@mikro-orm/migrations';

/** Lists of runs by status and by template cost the same however rare those are among a million others. */
export class RunLists extends Migration {
  override up(): void {
    this.addSql(
      `create index "runs_finished_index" on "runs" ("team_id", "status", "id") where "finished_at" is not null`,
    );
    this.addSql(`create index "runs_template_id_index" on "runs" ("template_id", "id")`);
  }
}
