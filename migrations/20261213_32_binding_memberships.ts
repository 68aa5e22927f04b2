import { Migration } from '@mikro-orm/migrations';

/**
 * The membership of the team by which somebody bound a connection. What was bound before has that of now, if it began before: a later one is not
 * what the connection was bound by.
 */
export class BindingMemberships extends Migration {
  override up(): void {
    this.addSql(`alter table "connection_bindings" add column "bound_by_membership" uuid null`);
    this.addSql(`update connection_bindings b set bound_by_membership = m.id
  from team_members m, projects p
 where p.id = coalesce(b.project_id, (select e.project_id from environments e where e.id = b.environment_id))
   and m.team_id = p.team_id and m.principal_id = b.bound_by and m.created_at <= b.bound_at`);
  }
}
