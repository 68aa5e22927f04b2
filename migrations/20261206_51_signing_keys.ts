import { Migration } from '@mikro-orm/migrations';

/** Adds the keys that sign the tokens by which attempts prove who they are. */
export class SigningKeys extends Migration {
  override up(): void {
    this.addSql(`
      create table "signing_keys" (
        "id" uuid not null,
        "key_id" varchar(255) not null,
        "public_key" jsonb not null,
        "sealed_private_key" bytea null,
        "signs_from" timestamptz(3) not null,
        "created_at" timestamptz(3) not null,
        primary key ("id")
      )
    `);
    this.addSql(`alter table "signing_keys" add constraint "signing_keys_key_id_unique" unique ("key_id")`);
  }
}
