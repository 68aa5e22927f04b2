import { Migration } from '@mikro-orm/migrations';

/** Stores why a run failed in the tool's own words, and which nodes of an assembly run failed why. Older rows have none. */
export class StatusDetails extends Migration {
  override up(): void {
    this.addSql(`alter table "runs" add column "status_detail" jsonb null`);
    this.addSql(`alter table "assembly_runs" add column "status_detail" jsonb null`);
  }
}
