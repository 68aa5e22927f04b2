import { Migration } from '@mikro-orm/migrations';

/**
 * What a receipt needs to answer a repeat: its status, its address, and the read operation with its parameters. Null for
 * receipts of the release before this one, which have `status` and `location` alone; for that release both are still filled.
 */
export class ReceiptAnswers extends Migration {
  override up(): void {
    this.addSql(`alter table "command_receipts" add column "answer" jsonb null`);
    this.addSql(`alter table "command_receipts" alter column "status" set default 0`);
  }
}
