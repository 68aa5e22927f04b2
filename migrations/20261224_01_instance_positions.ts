import { Migration } from '@mikro-orm/migrations';

/**
 * Keeps PostgreSQL from using the index of positions for the list of an instance's runs, by another order of nulls. It expected few runs,
 * and read and sorted all of them.
 */
export class InstancePositions extends Migration {
  override up(): void {
    this.addSql(`drop index "runs_instance_position_index"`);
    this.addSql(
      `create index "runs_instance_position_index" on "runs" ("instance_id" nulls first, "instance_position")`,
    );
  }
}
