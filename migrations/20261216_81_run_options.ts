import { Migration } from '@mikro-orm/migrations';

/** The options of a run, and those that an environment allows. Older rows have none: their runs and environments are as before. */
export class RunOptions extends Migration {
  override up(): void {
    this.addSql(`alter table "runs" add column "options" jsonb null`);
    this.addSql(`alter table "environments" add column "allowed_options" jsonb null`);
  }
}
