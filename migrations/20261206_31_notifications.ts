import { Migration } from '@mikro-orm/migrations';

/** What users are told, which kinds they want to hear of, and how far they have been told of the events. */
export class Notifications extends Migration {
  override up(): void {
    this.addSql(`create table "notifications" (
  "id" uuid not null,
  "user_id" uuid not null,
  "kind" varchar(255) not null,
  "subject_kind" varchar(255) not null,
  "subject_id" uuid not null,
  "title" text not null,
  "cause" text not null,
  "read_at" timestamptz(3) null,
  "archived_at" timestamptz(3) null,
  "created_at" timestamptz(3) not null,
  primary key ("id"),
  constraint "notifications_cause_unique" unique ("user_id", "cause")
)`);
    this.addSql(`create index "notifications_user_index" on "notifications" ("user_id", "id")`);
    this.addSql(`create index "notifications_thread_index" on "notifications" ("user_id", "subject_id", "id")`);
    this.addSql(`create index "notifications_created_at_index" on "notifications" ("created_at")`);
    this.addSql(
      `create index "notifications_unread_index" on "notifications" ("user_id", "id") where "read_at" is null and "archived_at" is null`,
    );
    this.addSql(`create table "notification_preferences" (
  "user_id" uuid not null,
  "kind" varchar(255) not null,
  "in_page" boolean not null,
  primary key ("user_id", "kind")
)`);
    this.addSql(`create table "notification_cursors" (
  "id" uuid not null,
  "cursor" jsonb not null,
  primary key ("id")
)`);
  }
}
