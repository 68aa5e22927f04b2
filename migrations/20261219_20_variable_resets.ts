import { Migration } from '@mikro-orm/migrations';

/** A run says which variables of the deployment it resets because its request does not name them. */
export class VariableResets extends Migration {
  override up(): void {
    this.addSql(`alter table "runs" add column "variable_resets" jsonb null`);
  }
}
