import { Migration } from '@mikro-orm/migrations';

/** Whose share of a plugin an assignment or a background principal takes up, and whether it still does. */
export class PluginShares extends Migration {
  override up(): void {
    this.share('plugin_action_grants', `"basis" ->> 'scope'`);
    this.share('plugin_background_principals', `"scope_basis"`);
    this.addSql(
      `create index "plugin_resources_share_index" on "plugin_resources" ("installation_id", "team_id") where "deleted_at" is null`,
    );
  }

  /** An owner chain begins with the organization and its generation; the team follows, if there is one. */
  private share(table: string, chain: string): void {
    this.addSql(
      `alter table "${table}" add column "owner_id" uuid, add column "counted" boolean not null default true`,
    );
    this.addSql(
      `update "${table}" set "owner_id" = coalesce(nullif(split_part(${chain}, ' ', 3), ''), split_part(${chain}, ' ', 1))::uuid`,
    );
    this.addSql(`alter table "${table}" alter column "owner_id" set not null`);
    this.addSql(
      `create index "${table}_share_index" on "${table}" ("installation_id", "owner_id") where "counted" and "revoked_at" is null`,
    );
  }
}
