import { Migration } from '@mikro-orm/migrations';

/** Whether the address of a user is confirmed, and the tokens that confirm it. The addresses that exist already count as confirmed. */
export class EmailConfirmations extends Migration {
  override up(): void {
    this.addSql(`alter table "users" add column "email_verified" boolean not null default true`);
    this.addSql(`create table "email_confirmations" (
      "user_id" uuid not null,
      "email_key" text not null,
      "verifier" bytea not null,
      "issued_by" uuid not null,
      "created_at" timestamptz(3) not null,
      "expires_at" timestamptz(3) not null,
      primary key ("user_id")
    )`);
    this.addSql(
      `alter table "email_confirmations" add constraint "email_confirmations_verifier_unique" unique ("verifier")`,
    );
    this.addSql(
      `alter table "email_confirmations" add constraint "email_confirmations_user_id_foreign" foreign key ("user_id") references "users" ("id") on update cascade on delete restrict`,
    );
  }
}
