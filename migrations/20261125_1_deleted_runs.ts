import { Migration } from '@mikro-orm/migrations';

/** Erases the inputs of the runs that were deleted before. The run by which an instance is deployed keeps them. */
export class DeletedRuns extends Migration {
  override up(): void {
    this.addSql(`
      update "runs" r set "sealed_inputs" = ''
      where r."deleted_at" is not null
        and not exists (
          select 1 from "instances" i
          where i."id" = r."instance_id" and i."deployed_run_id" = r."id" and i."resource_count" > 0)
    `);
  }
}
