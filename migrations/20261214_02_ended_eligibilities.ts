import { Migration } from '@mikro-orm/migrations';

/** When a generation of a thing or a principal, a membership or an approval ended, so that whoever relied on it can be told. */
export class EndedEligibilities extends Migration {
  override up(): void {
    this.addSql(`create table "ended_eligibilities" (
  "thing_id" uuid not null,
  "generation" int not null,
  "ended_at" timestamptz(3) not null,
  primary key ("thing_id", "generation")
)`);
  }
}
