import { Migration } from '@mikro-orm/migrations';

/** Counts behind the limits. They are worth nothing after a crash, so no change of them is logged. */
export class Limits extends Migration {
  override up(): void {
    this.addSql(`
create unlogged table "rate_counts" (
  "key" text not null,
  "count" int not null,
  "ends_at" timestamptz(3) not null,
  primary key ("key")
)`);
    this.addSql(`create index "rate_counts_ends_at_index" on "rate_counts" ("ends_at")`);
  }
}
