import { Migration } from '@mikro-orm/migrations';

/** Counts the changes of a user's notification preferences, so that a stale change can be refused. */
export class PreferenceRevisions extends Migration {
  override up(): void {
    this.addSql(`alter table "users" add column "preferences_revision" int not null default 1`);
  }
}
