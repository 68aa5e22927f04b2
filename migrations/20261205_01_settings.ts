import { Migration } from '@mikro-orm/migrations';

/** The settings of the installation: one row that is always there. The document holds only what an administrator has set. */
export class Settings extends Migration {
  override up(): void {
    this.addSql(`
      create table "settings" (
        "only" boolean not null default true,
        "document" jsonb not null default '{}',
        "revision" int not null default 1,
        "updated_at" timestamptz(3) null,
        primary key ("only"),
        constraint "settings_only_check" check ("only")
      )
    `);
    this.addSql(`insert into "settings" default values`);
  }
}
