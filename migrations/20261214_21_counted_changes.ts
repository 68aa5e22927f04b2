import { Migration } from '@mikro-orm/migrations';

/**
 * Counts the changes of an environment's variables, so that a replacement of all of them can be refused if one was added meanwhile.
 * A cleared quota stays as a row without effect, so that the next quota of its owner goes on with its revisions.
 */
export class CountedChanges extends Migration {
  override up(): void {
    this.addSql(`alter table "environments" add column "variables_revision" int not null default 1`);
    this.addSql(`alter table "quotas" add column "cleared_at" timestamptz(3) null`);
  }
}
