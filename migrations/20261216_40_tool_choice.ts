import { Migration } from '@mikro-orm/migrations';

/**
 * Stores which tool versions, environments, instances and runs ask for, and which version wrote a state. Older runs and versions have none of it: a
 * run may use any tool of the right kind. An instance gets the version of the run that last changed it.
 */
export class ToolChoice extends Migration {
  override up(): void {
    this.addSql(`alter table "environments" add column "tool" jsonb null`);
    this.addSql(`alter table "template_versions" add column "files_tools" jsonb null`);
    this.addSql(`alter table "runs" add column "tool_demand" jsonb null`);
    this.addSql(
      `alter table "instances" add column "wanted_tool" jsonb null, add column "tool_version" varchar(255) null`,
    );
    this.addSql(
      `update "instances" set "tool_version" = "runs"."tool" ->> 'version' from "runs" where "runs"."id" = "instances"."deployed_run_id" and "runs"."tool" ->> 'name' = "instances"."tool"`,
    );
  }
}
