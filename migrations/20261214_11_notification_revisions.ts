import { Migration } from '@mikro-orm/migrations';

/** Counts the changes of a notification, so that a stale change can be refused. */
export class NotificationRevisions extends Migration {
  override up(): void {
    this.addSql(`alter table "notifications" add column "revision" int not null default 1`);
  }
}
