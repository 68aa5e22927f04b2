import { Migration } from '@mikro-orm/migrations';

/**
 * Who answers for the publication of a version. Null for versions that service accounts of teams published before, and for
 * what the release before this one publishes: there the publisher itself counts, and nobody behind it is known.
 */
export class Publishers extends Migration {
  override up(): void {
    this.addSql(`alter table "template_versions" add column "responsible_user_id" uuid null`);
    this.addSql(`update "template_versions" v set "responsible_user_id" = coalesce(a.owner_user_id, u.id)
      from principals p left join users u on u.id = p.id left join service_accounts a on a.id = p.id
     where p.id = v.published_by`);
  }
}
