import { Migration } from '@mikro-orm/migrations';

/**
 * Webhooks and their deliveries. The state of a webhook's queue has a row of its own: it changes with every delivery, and what people configure
 * does not. Deliveries are partitioned by month, so that old ones are dropped instead of deleted.
 */
export class Webhooks extends Migration {
  override up(): void {
    this.addSql(`create table "webhooks" (
  "id" uuid not null,
  "organization_id" uuid null,
  "team_id" uuid null,
  "project_id" uuid null,
  "name" varchar(255) not null,
  "url" text not null,
  "events" jsonb not null,
  "is_enabled" boolean not null,
  "disabled_reason" varchar(255) null,
  "sealed_secret" bytea not null,
  "sealed_previous_secret" bytea null,
  "previous_until" timestamptz(3) null,
  "revision" int not null default 1,
  "created_at" timestamptz(3) not null,
  primary key ("id"),
  constraint "webhooks_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict,
  constraint "webhooks_team_id_foreign" foreign key ("team_id") references "teams" ("id") on update no action on delete restrict,
  constraint "webhooks_project_id_foreign" foreign key ("project_id") references "projects" ("id") on update no action on delete restrict
)`);
    this.addSql(`alter table "webhooks" add constraint "webhooks_owner_check"
  check (("project_id" is null or "team_id" is not null) and ("organization_id" is null or "team_id" is null))`);
    for (const owner of ['organization', 'team', 'project'])
      this.addSql(`create index "webhooks_${owner}_id_index" on "webhooks" ("${owner}_id", "id")`);
    this.addSql(`create table "webhook_queues" (
  "webhook_id" uuid not null,
  "next_at" timestamptz(3) null,
  "leased_until" timestamptz(3) null,
  "failing_since" timestamptz(3) null,
  primary key ("webhook_id"),
  constraint "webhook_queues_webhook_id_foreign" foreign key ("webhook_id") references "webhooks" ("id") on update cascade on delete cascade
)`);
    this.addSql(`create index "webhook_queues_next_at_index" on "webhook_queues" ("next_at")`);
    this.addSql(`create table "webhook_cursors" (
  "id" uuid not null,
  "cursor" jsonb not null,
  primary key ("id")
)`);
    this.addSql(`create table "webhook_deliveries" (
  "id" uuid not null,
  "created_at" timestamptz(3) not null,
  "webhook_id" uuid not null,
  "event_id" uuid not null,
  "event_type" text not null,
  "message_id" text not null,
  "status" text not null,
  "attempts" int not null default 0,
  "due_at" timestamptz(3) not null,
  "tried_at" timestamptz(3) null,
  "answer_status" int null,
  "answer_ms" int null,
  "answer_text" text null,
  "problem" text null,
  primary key ("id", "created_at")
) partition by range ("created_at")`);
    this.addSql(`create table "webhook_deliveries_default" partition of "webhook_deliveries" default`);
    this.addSql(
      `create index "webhook_deliveries_due_index" on "webhook_deliveries" ("webhook_id", "due_at", "id") where "status" = 'pending'`,
    );
    this.addSql(`create index "webhook_deliveries_webhook_index" on "webhook_deliveries" ("webhook_id", "id")`);
    this.addSql(`select make_month_partitions('webhook_deliveries', now(), 3)`);
  }
}
