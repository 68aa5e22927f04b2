import { Migration } from '@mikro-orm/migrations';

/**
 * Events name the project of their subject, so that webhooks of a project hear what it owns. Older events have none. The column needs no rewrite
 * of the table, and the release before this one leaves it empty.
 */
export class EventProjects extends Migration {
  override up(): void {
    this.addSql(`alter table "domain_events" add column "project_id" uuid null`);
  }
}
