import { Migration } from '@mikro-orm/migrations';

/** What the last comparison of unfinished runs with the engine found, for whoever watches over the installation. */
export class Reconciler extends Migration {
  override up(): void {
    this.addSql(`alter table "installation" add column "reconciled_at" timestamptz(3) null`);
    this.addSql(`alter table "installation" add column "runs_missed" int not null default 0`);
  }
}
