import { Migration } from '@mikro-orm/migrations';

/** Keys that are bound to a command before it is committed, because a workflow with the key as its id carries it out. */
export class ReservedKeys extends Migration {
  override up(): void {
    this.addSql(`alter table "command_receipts" add column "is_reserved" boolean not null default false`);
  }
}
