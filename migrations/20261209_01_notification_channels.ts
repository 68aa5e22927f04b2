import { Migration } from '@mikro-orm/migrations';

/** Channels that tell groups of people what happens, what they subscribe to, and chats of single users. */
export class NotificationChannels extends Migration {
  override up(): void {
    this.addSql(`create table "notification_channels" (
  "id" uuid not null,
  "organization_id" uuid null,
  "team_id" uuid null,
  "project_id" uuid null,
  "name" varchar(255) not null,
  "kind" varchar(255) not null,
  "is_enabled" boolean not null,
  "recipients" jsonb null,
  "host" text null,
  "sealed_url" bytea null,
  "sealed_secret" bytea null,
  "sealed_previous_secret" bytea null,
  "previous_until" timestamptz(3) null,
  "revision" int not null default 1,
  "created_at" timestamptz(3) not null,
  primary key ("id"),
  constraint "notification_channels_owner_check" check (("project_id" is null or "team_id" is not null) and ("organization_id" is null or "team_id" is null)),
  constraint "notification_channels_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on delete restrict,
  constraint "notification_channels_team_id_foreign" foreign key ("team_id") references "teams" ("id") on delete restrict,
  constraint "notification_channels_project_id_foreign" foreign key ("project_id") references "projects" ("id") on delete restrict
)`);
    for (const owner of ['organization', 'team', 'project'])
      this.addSql(
        `create index "notification_channels_${owner}_id_index" on "notification_channels" ("${owner}_id", "id")`,
      );
    this.addSql(`create table "channel_subscriptions" (
  "id" uuid not null,
  "channel_id" uuid not null,
  "team_id" uuid null,
  "environment_id" uuid null,
  "events" jsonb not null,
  primary key ("id"),
  constraint "channel_subscriptions_place_check" check ("team_id" is null or "environment_id" is null),
  constraint "channel_subscriptions_channel_id_foreign" foreign key ("channel_id") references "notification_channels" ("id") on delete cascade,
  constraint "channel_subscriptions_team_id_foreign" foreign key ("team_id") references "teams" ("id") on delete restrict,
  constraint "channel_subscriptions_environment_id_foreign" foreign key ("environment_id") references "environments" ("id") on delete restrict
)`);
    for (const column of ['channel_id', 'team_id', 'environment_id'])
      this.addSql(`create index "channel_subscriptions_${column}_index" on "channel_subscriptions" ("${column}")`);
    this.addSql(`create table "user_chats" (
  "user_id" uuid not null,
  "host" text not null,
  "sealed_url" bytea not null,
  primary key ("user_id")
)`);
    this.addSql(`alter table "notification_preferences" add column "by_chat" boolean null`);
    this.addSql(`alter table "outgoing_messages" add column "channel_id" uuid null`);
    this.addSql(
      `create index "outgoing_messages_channel_index" on "outgoing_messages" ("channel_id", "id") where "channel_id" is not null`,
    );
  }
}
