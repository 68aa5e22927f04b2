import { Migration } from '@mikro-orm/migrations';

/** Keeps the lock files of the providers of a template version, by platform. */
export class VersionLocks extends Migration {
  override up(): void {
    this.addSql(`alter table "template_version_modules" add column "locks" jsonb not null default '{}'`);
    this.addSql(`alter table "template_version_modules" alter column "locks" drop default`);
  }
}
