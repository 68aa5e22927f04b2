import { Migration } from '@mikro-orm/migrations';

/**
 * The run that began to change an instance and did not finish, and when. The last deployment of an instance becomes the last apply that succeeded,
 * also if its plan had no changes.
 */
export class LastDeployment extends Migration {
  override up(): void {
    this.addSql(
      `alter table "instances" add column "unrecorded_run_id" uuid null, add column "unrecorded_at" timestamptz(3) null`,
    );
    this.addSql(
      `update "instances" i set "deployed_run_id" = latest."id"
        from "runs" d, lateral (
          select r."id", r."template_id" from "runs" r
          where r."instance_id" = d."instance_id" and r."instance_position" > d."instance_position" and r."operation" = 'apply'
            and r."status" = 'succeeded' and octet_length(r."sealed_inputs") > 0
          order by r."instance_position" desc limit 1
        ) latest
        where d."id" = i."deployed_run_id" and d."operation" <> 'destroy' and d."template_id" = latest."template_id"`,
    );
  }
}
