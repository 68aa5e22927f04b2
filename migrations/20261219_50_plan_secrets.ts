import { Migration } from '@mikro-orm/migrations';

/** An environment may demand that planning gets weaker secrets than applying, or none. Those that are there demand nothing. */
export class PlanSecrets extends Migration {
  override up(): void {
    this.addSql(`alter table "environments" add column "plan_secrets" varchar(255) null`);
  }
}
