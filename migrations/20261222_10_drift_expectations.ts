import { Migration } from '@mikro-orm/migrations';

/** Keeps why a scan could not say which value it expected, such as one that each plan makes anew. Evidence of earlier scans has none. */
export class DriftExpectations extends Migration {
  override up(): void {
    this.addSql(`alter table "drift_evidence" add column "expectation" varchar(255) null`);
  }
}
