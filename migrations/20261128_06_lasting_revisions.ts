import { Migration } from '@mikro-orm/migrations';

/**
 * What is removed and made again under the same name goes on with its revisions, so that no stale revision matches the new one:
 * each owner keeps the highest revision that it has removed. The pause of the installation gets a revision of its own.
 */
export class LastingRevisions extends Migration {
  override up(): void {
    this.addSql(`alter table "environments" add column "removed_variable_revision" int not null default 0`);
    this.addSql(`alter table "organizations" add column "removed_member_revision" int not null default 0`);
    this.addSql(`alter table "teams" add column "removed_member_revision" int not null default 0`);
    this.addSql(`
      alter table "installation"
        add column "removed_pool_revision" int not null default 0,
        add column "apply_pause_revision" int not null default 1
    `);
  }
}
