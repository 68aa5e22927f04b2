import { Migration } from '@mikro-orm/migrations';

/** Service accounts with their owners; what kind of key a key is, and which one it replaced. */
export class Accounts extends Migration {
  override up(): void {
    this.addSql(schema);
  }
}

const schema = `
create table "service_accounts" (
  "id" uuid not null,
  "owner_user_id" uuid null,
  "owner_team_id" uuid null,
  "created_by" uuid not null,
  primary key ("id")
);
alter table "service_accounts" add constraint "service_accounts_one_owner_check" check (num_nonnulls(owner_user_id, owner_team_id) = 1);
create index "service_accounts_owner_user_id_index" on "service_accounts" ("owner_user_id");
create index "service_accounts_owner_team_id_index" on "service_accounts" ("owner_team_id");
alter table "service_accounts" add constraint "service_accounts_id_foreign" foreign key ("id") references "principals" ("id") on update cascade on delete restrict;
alter table "service_accounts" add constraint "service_accounts_owner_user_id_foreign" foreign key ("owner_user_id") references "users" ("id") on delete restrict;
alter table "service_accounts" add constraint "service_accounts_owner_team_id_foreign" foreign key ("owner_team_id") references "teams" ("id") on delete restrict;
alter table "api_keys" add column "kind" varchar(255) not null default 'personal';
alter table "api_keys" add column "rotated_from" uuid null;
alter table "api_keys" add constraint "api_keys_rotated_from_unique" unique ("rotated_from");
alter table "api_keys" add constraint "api_keys_rotated_from_foreign" foreign key ("rotated_from") references "api_keys" ("id") on delete restrict;
create unique index "api_keys_one_profile_key_unique" on "api_keys" ("principal_id") where "kind" = 'profile' and "revoked_at" is null;
`;
