import { Migration } from '@mikro-orm/migrations';

/**
 * Binds the key of a command also to what the request means: with defaults filled in, and with ids in place of slugs. The release
 * before this one goes on comparing the request as it was sent.
 */
export class ResolvedBindings extends Migration {
  override up(): void {
    this.addSql(`alter table "command_receipts" add column "resolved_binding" bytea null`);
  }
}
