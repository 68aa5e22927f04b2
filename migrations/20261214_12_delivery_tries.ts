import { Migration } from '@mikro-orm/migrations';

/** Keeps what each of the last tries of a delivery came to. Deliveries that were tried before show their last try alone. */
export class DeliveryTries extends Migration {
  override up(): void {
    this.addSql(`alter table "webhook_deliveries" add column "tries" jsonb not null default '[]'`);
  }
}
