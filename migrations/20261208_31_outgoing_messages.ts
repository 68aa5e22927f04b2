import { Migration } from '@mikro-orm/migrations';

/** Messages that leave the service, such as e-mail, and which kinds of notifications users want by e-mail. */
export class OutgoingMessages extends Migration {
  override up(): void {
    this.addSql(`create table "outgoing_messages" (
  "id" uuid not null,
  "medium" varchar(255) not null,
  "user_id" uuid null,
  "address" text null,
  "destination" text not null,
  "cause" text not null,
  "content" jsonb not null,
  "sealed_token" bytea null,
  "subject_kind" varchar(255) null,
  "subject_id" uuid null,
  "status" varchar(255) not null,
  "attempts" int not null,
  "due_at" timestamptz(3) not null,
  "leased_until" timestamptz(3) null,
  "problem" text null,
  "created_at" timestamptz(3) not null,
  "settled_at" timestamptz(3) null,
  primary key ("id"),
  constraint "outgoing_messages_cause_unique" unique ("destination", "cause")
)`);
    this.addSql(
      `create index "outgoing_messages_pending_index" on "outgoing_messages" ("destination", "due_at", "id") where "status" = 'pending'`,
    );
    this.addSql(`create index "outgoing_messages_user_index" on "outgoing_messages" ("user_id")`);
    this.addSql(`create index "outgoing_messages_created_at_index" on "outgoing_messages" ("created_at")`);
    this.addSql(`alter table "notification_preferences" add column "by_email" boolean null`);
  }
}
