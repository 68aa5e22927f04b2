import { Migration } from '@mikro-orm/migrations';

/** Stores when a transfer voided where a variable set is attached: it stays void also where the place comes back to the owner of the set. */
export class VoidAttachments extends Migration {
  override up(): void {
    this.addSql(`alter table "variable_set_attachments" add column "void_since" timestamptz(3) null`);
    this.addSql(`update "variable_set_attachments" as a set "void_since" = now() where not exists (
      select from "variable_sets" s, "projects" p join "teams" t on t."id" = p."team_id"
      where s."id" = a."variable_set_id"
        and p."id" = coalesce(a."project_id", (select e."project_id" from "environments" e where e."id" = a."environment_id"))
        and (s."organization_id" = t."organization_id" or (s."team_id" = t."id" and s."project_id" is null) or s."project_id" = p."id"))`);
  }
}
