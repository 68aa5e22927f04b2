import { Migration } from '@mikro-orm/migrations';

/**
 * Stores who may read the outputs of an instance: teams and environments, and for which owners somebody allowed it. Older instances have none: nobody
 * reads them.
 */
export class InstanceReaders extends Migration {
  override up(): void {
    this.addSql(
      `alter table "instances" add column "reader_team_ids" jsonb not null default '[]', add column "reader_environment_ids" jsonb not null default '[]', add column "readers_organization_id" uuid null, add column "readers_team_id" uuid null`,
    );
  }
}
