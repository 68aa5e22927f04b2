import { Migration } from '@mikro-orm/migrations';

/** Finds the runs that remediate a finding without reading all runs of its instance. The index is small: few runs remediate one. */
export class RemediationRuns extends Migration {
  override up(): void {
    this.addSql(
      `create index "runs_drift_finding_index" on "runs" ("drift_finding_id", "id") where "drift_finding_id" is not null`,
    );
  }
}
