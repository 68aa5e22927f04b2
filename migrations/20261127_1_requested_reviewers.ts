import { Migration } from '@mikro-orm/migrations';

/** The people who were asked to review a run. Runs from before show none: their events name whom somebody asked. */
export class RequestedReviewers extends Migration {
  override up(): void {
    this.addSql(`alter table "runs" add column "reviewers" jsonb not null default '[]'`);
  }
}
