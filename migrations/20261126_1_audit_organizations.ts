import { Migration } from '@mikro-orm/migrations';

/**
 * Adds the organization to audit records of runs, reviews and instances, which earlier releases recorded with their team only.
 * `GET /audit?organization_id=` did not show them. A record from before its team was transferred stays as it is: the
 * organization at that time is not known.
 */
export class AuditOrganizations extends Migration {
  override up(): void {
    this.addSql(`
      update "audit_records" r set "organization_id" = t."organization_id"
        from "teams" t
        left join (
          select "resource_id", max("at") as "at" from "audit_records"
           where "action" = 'team.transferred' and "outcome" = 'committed' group by "resource_id"
        ) moved on moved."resource_id" = t."id"::text
       where r."team_id" = t."id"
         and r."team_id" is not null
         and r."organization_id" is null
         and (moved."at" is null or r."at" > moved."at")
    `);
  }
}
