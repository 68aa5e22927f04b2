import { Migration } from '@mikro-orm/migrations';

/** A worker says whether it takes checks of templates. Workers of earlier releases do not, so nobody waits for them. */
export class CheckingWorkers extends Migration {
  override up(): void {
    this.addSql(`alter table "workers" add column "takes_checks" boolean not null default false`);
  }
}
