import { Migration } from '@mikro-orm/migrations';

/** Stores to which tool a run switches its instance; null: it switches none. */
export class ToolSwitches extends Migration {
  override up(): void {
    this.addSql(`alter table "runs" add column "tool_switch" jsonb null`);
  }
}
