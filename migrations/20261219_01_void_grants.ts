import { Migration } from '@mikro-orm/migrations';

/** Stores when a transfer voided what was granted: it stays void also where the thing comes back to its former owners. */
export class VoidGrants extends Migration {
  override up(): void {
    this.addSql(`alter table "instances" add column "readers_void_since" timestamptz(3) null`);
    for (const table of ['instance_follows', 'schedules', 'connection_bindings', 'template_version_modules'])
      this.addSql(`alter table "${table}" add column "void_since" timestamptz(3) null`);
  }
}
