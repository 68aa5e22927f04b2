import { Migration } from '@mikro-orm/migrations';

/** Finds the chunk of any line of a log at once. */
export class LogLines extends Migration {
  override up(): void {
    this.addSql(`
      create index "run_log_chunks_line_index" on "run_log_chunks" ("run_id", "first_line", "sequence")
    `);
  }
}
