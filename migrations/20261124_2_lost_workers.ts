import { Migration } from '@mikro-orm/migrations';

/** When a worker was reported as lost, so that each loss is reported once. */
export class LostWorkers extends Migration {
  override up(): void {
    this.addSql(`alter table "workers" add column "lost_at" timestamptz(3) null`);
  }
}
