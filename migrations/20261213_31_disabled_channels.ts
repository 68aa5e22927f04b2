import { Migration } from '@mikro-orm/migrations';

/** Why the service has disabled a notification channel. */
export class DisabledChannels extends Migration {
  override up(): void {
    this.addSql(`alter table "notification_channels" add column "disabled_reason" varchar(255) null`);
  }
}
