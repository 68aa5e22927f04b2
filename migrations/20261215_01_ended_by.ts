import { Migration } from '@mikro-orm/migrations';

/** Who ended a generation. Nobody has written it down for those that ended before. */
export class EndedBy extends Migration {
  override up(): void {
    this.addSql(`alter table "ended_eligibilities" add column "ended_by" uuid null`);
  }
}
