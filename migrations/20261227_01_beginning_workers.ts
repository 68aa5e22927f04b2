import { Migration } from '@mikro-orm/migrations';

/** Notes of each worker whether it begins runs itself. Workers of earlier releases do not. */
export class BeginningWorkers extends Migration {
  override up(): void {
    this.addSql(`alter table "workers" add column "begins_runs" boolean not null default false`);
  }
}
