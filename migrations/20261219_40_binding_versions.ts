import { Migration } from '@mikro-orm/migrations';

/** Which parts of a request the binding of a receipt covers. Receipts of earlier releases do not cover `If-Match`: that is version 1. */
export class BindingVersions extends Migration {
  override up(): void {
    this.addSql(`alter table "command_receipts" add column "binding_version" smallint not null default 1`);
  }
}
