import { Migration } from '@mikro-orm/migrations';

/** Passwords that are changed, reset and counted, who set an environment's secrets, and sessions that can be tidied up. */
export class People extends Migration {
  override up(): void {
    this.addSql(`alter table "users" add column "password_generation" int not null default 1`);
    this.addSql(`create table "password_resets" (
      "user_id" uuid not null,
      "verifier" bytea not null,
      "issued_by" uuid not null,
      "created_at" timestamptz(3) not null,
      "expires_at" timestamptz(3) not null,
      primary key ("user_id")
    )`);
    this.addSql(`alter table "password_resets" add constraint "password_resets_verifier_unique" unique ("verifier")`);
    this.addSql(
      `alter table "password_resets" add constraint "password_resets_user_id_foreign" foreign key ("user_id") references "users" ("id") on update cascade on delete restrict`,
    );
    this.addSql(`create index "sessions_expires_at_index" on "sessions" ("expires_at")`);
    this.addSql(`alter table "environment_variables" add column "set_by" uuid null`);
  }
}
