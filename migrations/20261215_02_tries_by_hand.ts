import { Migration } from '@mikro-orm/migrations';

/** Tells the tries of a delivery that somebody asked for from those after which the service gives up. */
export class TriesByHand extends Migration {
  override up(): void {
    this.addSql(`alter table "webhook_deliveries" add column "tries_by_hand" int not null default 0`);
  }
}
