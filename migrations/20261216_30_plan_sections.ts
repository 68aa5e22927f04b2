import { Migration } from '@mikro-orm/migrations';

/**
 * Stores what a plan holds beside its changes of resources: outputs, checks, actions, deferred changes and warnings. Of older plans, nobody knows
 * them.
 */
export class PlanSections extends Migration {
  override up(): void {
    this.addSql(`alter table "run_plans" add column "sections" jsonb null`);
    this.addSql(`alter table "drift_scans" add column "failing_checks" int null`);
  }
}
