import { Migration } from '@mikro-orm/migrations';

/** Where messages did not arrive lately: why, and until when nothing is sent there. */
export class FailingDestinations extends Migration {
  override up(): void {
    this.addSql(`create table "failing_destinations" (
  "destination" text not null,
  "problem" text not null,
  "failing_since" timestamptz(3) not null,
  "quiet_until" timestamptz(3) not null,
  primary key ("destination")
)`);
  }
}
