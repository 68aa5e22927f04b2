import { Migration } from '@mikro-orm/migrations';

/**
 * Changes the order of the index of positions, so that it does not suit the list of an instance's runs. Otherwise PostgreSQL may read all
 * runs of the instance from it and sort them, because it expects few.
 */
export class InstancePositions extends Migration {
  override up(): void {
    this.addSql(`drop index "runs_instance_position_index"`);
    this.addSql(
      `create index "runs_instance_position_index" on "runs" ("instance_id" nulls first, "instance_position")`,
    );
  }
}
