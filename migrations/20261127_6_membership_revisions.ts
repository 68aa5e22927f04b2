import { Migration } from '@mikro-orm/migrations';

/** Memberships count their changes, so that an update can name the revision that it was made for. */
export class MembershipRevisions extends Migration {
  override up(): void {
    this.addSql(`alter table "organization_members" add column "revision" int not null default 1`);
    this.addSql(`alter table "team_members" add column "revision" int not null default 1`);
  }
}
