import { Migration } from '@mikro-orm/migrations';

/** Which webhooks have delivered something, and how long those that fail are left alone. */
export class WebhookLanes extends Migration {
  override up(): void {
    this.addSql(`alter table "webhook_queues" add column "is_proven" boolean not null default false`);
    this.addSql(`alter table "webhook_queues" add column "failures" int not null default 0`);
    this.addSql(`alter table "webhook_queues" add column "quiet_until" timestamptz(3) null`);
    this.addSql(`update "webhook_queues" q set "is_proven" = true
 where q."failing_since" is null
   and exists (select from "webhook_deliveries" d where d."webhook_id" = q."webhook_id" and d."status" = 'delivered')`);
  }
}
