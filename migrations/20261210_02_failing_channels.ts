import { Migration } from '@mikro-orm/migrations';

/** Which channel a failing destination belongs to, so that the channel finds why its messages do not arrive. */
export class FailingChannels extends Migration {
  override up(): void {
    this.addSql(`alter table "failing_destinations" add column "channel_id" uuid null`);
    this.addSql(`alter table "failing_destinations" add column "address" text null`);
    this.addSql(
      `create index "failing_destinations_channel_id_index" on "failing_destinations" ("channel_id") where "channel_id" is not null`,
    );
  }
}
