import { Migration } from '@mikro-orm/migrations';

/** What keeps applies from starting: the lock and the freeze windows of an environment, and the pause of the installation. */
export class Holds extends Migration {
  override up(): void {
    this.addSql(`
      alter table "environments"
        add column "lock" jsonb null,
        add column "freeze_windows" jsonb not null default '[]'
    `);
    this.addSql(`alter table "installation" add column "apply_pause" jsonb null`);
  }
}
