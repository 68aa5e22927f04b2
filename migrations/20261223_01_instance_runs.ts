import { Migration } from '@mikro-orm/migrations';

/** Lets the list of an instance's runs read only these, newest first. */
export class InstanceRuns extends Migration {
  override up(): void {
    this.addSql(`create index "runs_instance_id_index" on "runs" ("instance_id", "id")`);
  }
}
