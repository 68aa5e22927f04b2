import { Migration } from '@mikro-orm/migrations';

/** The phases in which runs get a variable of their environment. Existing variables stay in both. */
export class VariablePhases extends Migration {
  override up(): void {
    this.addSql(`
      alter table "environment_variables"
        add column "in_plan" boolean not null default true,
        add column "in_apply" boolean not null default true
    `);
  }
}
