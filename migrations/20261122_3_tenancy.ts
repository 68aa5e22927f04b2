import { Migration } from '@mikro-orm/migrations';

/** Invitations. Whoever sent or took one is history: such a person can be disabled, but not deleted. */
export class Tenancy extends Migration {
  override up(): void {
    this.addSql(schema);
  }
}

const schema = `
create table "invitations" (
  "id" uuid not null,
  "organization_id" uuid not null,
  "team_id" uuid null,
  "email" varchar(255) not null,
  "email_key" varchar(255) not null,
  "role" varchar(255) null,
  "team_role" varchar(255) null,
  "verifier" bytea not null,
  "invited_by" uuid not null,
  "inviter_generation" int not null,
  "organization_generation" int not null,
  "team_generation" int null,
  "revision" int not null default 1,
  "created_at" timestamptz(3) not null,
  "sent_at" timestamptz(3) not null,
  "expires_at" timestamptz(3) not null,
  "accepted_at" timestamptz(3) null,
  "accepted_by" uuid null,
  "revoked_at" timestamptz(3) null,
  primary key ("id")
);
alter table "invitations" add constraint "invitations_verifier_unique" unique ("verifier");
create unique index "invitations_open_unique" on "invitations" ("organization_id", "team_id", "email_key") nulls not distinct where "accepted_at" is null and "revoked_at" is null;
create index "invitations_organization_id_index" on "invitations" ("organization_id", "id");
create index "invitations_team_id_index" on "invitations" ("team_id", "id");
create index "invitations_invited_by_index" on "invitations" ("invited_by");
create index "invitations_accepted_by_index" on "invitations" ("accepted_by");
alter table "invitations" add constraint "invitations_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on delete restrict;
alter table "invitations" add constraint "invitations_team_id_foreign" foreign key ("team_id") references "teams" ("id") on delete restrict;
alter table "invitations" add constraint "invitations_invited_by_foreign" foreign key ("invited_by") references "principals" ("id") on delete restrict;
alter table "invitations" add constraint "invitations_accepted_by_foreign" foreign key ("accepted_by") references "principals" ("id") on delete restrict;
`;
