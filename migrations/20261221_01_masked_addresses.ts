import { Migration } from '@mikro-orm/migrations';

/** A state says what is shown in place of secrets in the addresses of its resources. Those that are stored already stay as they are. */
export class MaskedAddresses extends Migration {
  override up(): void {
    this.addSql(`alter table "state_versions" add column "masked_addresses" jsonb null`);
  }
}
