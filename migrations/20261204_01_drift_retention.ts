import { Migration } from '@mikro-orm/migrations';

/**
 * Marks the evidence by which somebody decided, so that it is kept, and finds resolved findings by the time at which they were seen last. A suppression
 * names the latest evidence, and so did a remediation when its run was admitted.
 */
export class DriftRetention extends Migration {
  override up(): void {
    this.addSql(`alter table "drift_evidence" add column "cited" boolean not null default false`);
    this.addSql(
      `update "drift_evidence" e set "cited" = true from "drift_findings" f where f."evidence_id" = e."id" and f."suppressed_value" is not null`,
    );
    this.addSql(`
      update "drift_evidence" set "cited" = true where "id" in (
        select named."id" from "runs" r, lateral (
          select e."id" from "drift_evidence" e where e."finding_id" = r."drift_finding_id" and e."id" < r."id" order by e."id" desc limit 1
        ) named where r."drift_finding_id" is not null
      )
    `);
    this.addSql(
      `create index "drift_findings_resolved_index" on "drift_findings" ("monitor_id", "last_seen_at") where "status" = 'resolved'`,
    );
  }
}
