import { Migration } from '@mikro-orm/migrations';

/** Lets a run name the state and the deployment of its instance for which it was asked, and the plan that its own may not exceed. */
export class RunPins extends Migration {
  override up(): void {
    this.addSql(
      `alter table "runs" add column "expected_state_serial" int null, add column "expected_deployed_run_id" uuid null,
        add column "expected_plan_run_id" uuid null`,
    );
  }
}
