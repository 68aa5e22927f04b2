import { Migration } from '@mikro-orm/migrations';

/** An environment variable of the run's tools may have another value for planning: weaker credentials under the same name. */
export class PlanValues extends Migration {
  override up(): void {
    this.addSql(`
      alter table "environment_variables"
        add column "plan_value" jsonb null,
        add column "sealed_plan_value" bytea null
    `);
  }
}
