import { Migration } from '@mikro-orm/migrations';

/** When and by whom a plugin was removed. Another plugin may have its name from then on. */
export class RemovedPlugins extends Migration {
  override up(): void {
    this.addSql(
      `alter table "plugin_installations" add column "deleted_at" timestamptz(3) null, add column "deleted_by" uuid null`,
    );
    this.addSql(`drop index "plugin_installations_owner_name_unique"`);
    this.addSql(
      `create unique index "plugin_installations_owner_name_unique" on "plugin_installations" ("organization_id", "team_id", "name") nulls not distinct where "deleted_at" is null`,
    );
  }
}
