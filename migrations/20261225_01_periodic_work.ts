import { Migration } from '@mikro-orm/migrations';

/** Work that one worker does for all, and when a webhook was last enabled. */
export class PeriodicWork extends Migration {
  override up(): void {
    this.addSql(
      `create table "periodic_work" ("name" varchar(255) not null primary key, "due_at" timestamptz(3) not null)`,
    );
    this.addSql(`alter table "webhooks" add column "enabled_at" timestamptz(3) null`);
  }
}
