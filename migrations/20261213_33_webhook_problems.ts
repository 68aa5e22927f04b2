import { Migration } from '@mikro-orm/migrations';

/** Why the last request to the endpoint of a webhook failed. */
export class WebhookProblems extends Migration {
  override up(): void {
    this.addSql(`alter table "webhook_queues" add column "problem" text null`);
  }
}
