import { Migration } from '@mikro-orm/migrations';

/** The first schema. Tables of logs and audit are partitioned by month from the start, since they only grow. */
export class Initial extends Migration {
  override up(): void {
    this.addSql(schema);
  }
}

const schema = `
create table "command_receipts" (
  "key" uuid not null,
  "principal_id" uuid not null,
  "operation" varchar(255) not null,
  "binding" bytea not null,
  "status" int not null,
  "location" varchar(255) null,
  "resource_id" uuid null,
  "revision" int null,
  "audit_record_id" uuid not null,
  "created_at" timestamptz(3) not null,
  primary key ("key")
);
create table "installation" (
  "id" uuid not null,
  "only" boolean not null default true,
  "sealed_keys" bytea not null,
  "engine_namespace_id" varchar(255) null,
  "created_at" timestamptz(3) not null,
  primary key ("id")
);
alter table "installation" add constraint "installation_only_unique" unique ("only");
create table "instances" (
  "id" uuid not null,
  "team_id" uuid null,
  "environment_id" uuid null,
  "template_id" uuid not null,
  "name" varchar(255) not null,
  "tool" varchar(255) null,
  "next_position" int not null default 1,
  "state_serial" int not null default 0,
  "resource_count" int not null default 0,
  "outputs" jsonb not null,
  "sealed_outputs" bytea null,
  "deployed_run_id" uuid null,
  "revision" int not null default 1,
  "created_at" timestamptz(3) not null,
  primary key ("id")
);
create unique index "instances_environment_name_unique" on "instances" ("environment_id", "name") where "environment_id" is not null;
create unique index "instances_template_name_unique" on "instances" ("template_id", "name") where "environment_id" is null;
create table "instance_slots" (
  "instance_id" uuid not null,
  "run_id" uuid not null,
  "acquired_at" timestamptz(3) not null,
  primary key ("instance_id")
);
alter table "instance_slots" add constraint "instance_slots_run_id_unique" unique ("run_id");
create table "organizations" (
  "id" uuid not null,
  "name" varchar(255) not null,
  "slug" varchar(255) not null,
  "eligibility_generation" int not null default 1,
  "revision" int not null default 1,
  "created_at" timestamptz(3) not null,
  "archived_at" timestamptz(3) null,
  "deleted_at" timestamptz(3) null,
  primary key ("id")
);
create table "organization_slugs" (
  "slug" varchar(255) not null,
  "organization_id" uuid not null,
  "created_at" timestamptz(3) not null,
  primary key ("slug")
);
create index "organization_slugs_organization_id_index" on "organization_slugs" ("organization_id");
create table "outbox" (
  "id" bigserial primary key,
  "target" varchar(255) not null,
  "payload" jsonb not null,
  "created_at" timestamptz(3) not null,
  "due_at" timestamptz(3) not null,
  "attempts" int not null default 0,
  "last_error" text null
);
create index "outbox_target_index" on "outbox" ("target", "id");
create index "outbox_due_index" on "outbox" ("due_at", "id");
create table "principals" (
  "id" uuid not null,
  "kind" varchar(255) not null,
  "name" varchar(255) not null,
  "role" varchar(255) null,
  "enabled" boolean not null default true,
  "eligibility_generation" int not null default 1,
  "revision" int not null default 1,
  "created_at" timestamptz(3) not null,
  "deleted_at" timestamptz(3) null,
  primary key ("id")
);
create table "organization_members" (
  "id" uuid not null,
  "organization_id" uuid not null,
  "principal_id" uuid not null,
  "role" varchar(255) not null,
  "created_at" timestamptz(3) not null,
  primary key ("id")
);
create index "organization_members_organization_id_index" on "organization_members" ("organization_id");
alter table "organization_members" add constraint "organization_members_principal_organization_unique" unique ("principal_id", "organization_id");
create table "api_keys" (
  "id" uuid not null,
  "principal_id" uuid not null,
  "name" varchar(255) not null,
  "verifier" bytea not null,
  "hint" varchar(255) not null,
  "issued_by" uuid not null,
  "created_at" timestamptz(3) not null,
  "expires_at" timestamptz(3) null,
  "revoked_at" timestamptz(3) null,
  primary key ("id")
);
alter table "api_keys" add constraint "api_keys_verifier_unique" unique ("verifier");
create index "api_keys_principal_id_index" on "api_keys" ("principal_id");
create table "api_key_uses" (
  "key_id" uuid not null,
  "last_used_at" timestamptz(3) not null,
  primary key ("key_id")
);
create table "runs" (
  "id" uuid not null,
  "idempotency_key" uuid not null,
  "status" varchar(255) not null,
  "phase" varchar(255) not null,
  "status_reason" varchar(255) null,
  "waiting_on" jsonb null,
  "operation" varchar(255) not null,
  "replace" jsonb not null,
  "team_id" uuid null,
  "project_id" uuid null,
  "environment_id" uuid null,
  "instance_id" uuid not null,
  "instance" varchar(255) not null,
  "instance_position" int not null,
  "template_id" uuid not null,
  "template_version_id" uuid not null,
  "template_version" varchar(255) not null,
  "pool" varchar(255) not null,
  "tool" jsonb null,
  "variables" jsonb not null,
  "sealed_inputs" bytea not null,
  "message" text not null default '',
  "requested_by_id" uuid not null,
  "requested_by_type" varchar(255) not null,
  "requested_by_name" varchar(255) not null,
  "credential_id" uuid null,
  "responsible_user_id" uuid null,
  "retry_safe" boolean not null,
  "timeouts" jsonb not null,
  "approval_required" int not null,
  "approval_when" varchar(255) not null,
  "approval_allow_self" boolean not null,
  "approval_expires_at" timestamptz(3) null,
  "plan_digest" varchar(255) null,
  "plan_summary" jsonb null,
  "outputs" jsonb not null,
  "state_serial_before" int null,
  "state_serial_after" int null,
  "attempt_id" uuid null,
  "cancel_reason" text null,
  "requeued_from" uuid null,
  "assembly_run_id" uuid null,
  "drift_finding_id" uuid null,
  "undoes" uuid null,
  "undone_by" uuid null,
  "revision" int not null default 1,
  "created_at" timestamptz(3) not null,
  "started_at" timestamptz(3) null,
  "finished_at" timestamptz(3) null,
  "deleted_at" timestamptz(3) null,
  primary key ("id")
);
alter table "runs" add constraint "runs_idempotency_key_unique" unique ("idempotency_key");
create index "runs_team_id_index" on "runs" ("team_id", "id");
create index "runs_instance_position_index" on "runs" ("instance_id", "instance_position");
create index "runs_environment_id_index" on "runs" ("environment_id", "id");
create index "runs_unfinished_index" on "runs" ("status", "id") where "finished_at" is null;
create table "run_attempts" (
  "id" uuid not null,
  "run_id" uuid not null,
  "phase" varchar(255) not null,
  "worker_id" uuid null,
  "log_base" int not null,
  "line_base" int not null,
  "started_at" timestamptz(3) not null,
  "finished_at" timestamptz(3) null,
  "outcome" varchar(255) null,
  primary key ("id")
);
create index "run_attempts_run_id_index" on "run_attempts" ("run_id");
create table "run_events" (
  "run_id" uuid not null,
  "sequence" int not null,
  "type" varchar(255) not null,
  "data" jsonb not null,
  "created_at" timestamptz(3) not null,
  primary key ("run_id", "sequence")
);
create table "run_plans" (
  "run_id" uuid not null,
  "digest" varchar(255) not null,
  "executor_digest" varchar(255) not null,
  "changes" jsonb not null,
  "artifact" bytea null,
  "state_serial" int not null,
  "created_at" timestamptz(3) not null,
  primary key ("run_id")
);
create table "run_reviews" (
  "id" uuid not null,
  "run_id" uuid not null,
  "reviewer_id" uuid not null,
  "reviewer_type" varchar(255) not null,
  "reviewer_name" varchar(255) not null,
  "responsible_user_id" uuid not null,
  "decision" varchar(255) not null,
  "comment" text not null,
  "plan_digest" varchar(255) not null,
  "created_at" timestamptz(3) not null,
  primary key ("id")
);
alter table "run_reviews" add constraint "run_reviews_run_person_unique" unique ("run_id", "responsible_user_id");
create table "state_versions" (
  "instance_id" uuid not null,
  "serial" int not null,
  "run_id" uuid null,
  "attempt_id" uuid null,
  "attempt_write" int null,
  "digest" varchar(255) not null,
  "size" int not null,
  "resource_count" int not null,
  "content" bytea not null,
  "created_by" uuid null,
  "created_at" timestamptz(3) not null,
  primary key ("instance_id", "serial")
);
alter table "state_versions" add constraint "state_versions_attempt_write_unique" unique ("attempt_id", "attempt_write");
create table "teams" (
  "id" uuid not null,
  "organization_id" uuid not null,
  "name" varchar(255) not null,
  "slug" varchar(255) not null,
  "eligibility_generation" int not null default 1,
  "revision" int not null default 1,
  "created_at" timestamptz(3) not null,
  "archived_at" timestamptz(3) null,
  "deleted_at" timestamptz(3) null,
  primary key ("id")
);
create unique index "teams_organization_slug_unique" on "teams" ("organization_id", "slug") where "deleted_at" is null;
create table "projects" (
  "id" uuid not null,
  "team_id" uuid not null,
  "name" varchar(255) not null,
  "slug" varchar(255) not null,
  "description" text not null default '',
  "eligibility_generation" int not null default 1,
  "revision" int not null default 1,
  "created_at" timestamptz(3) not null,
  "archived_at" timestamptz(3) null,
  "deleted_at" timestamptz(3) null,
  primary key ("id")
);
create unique index "projects_team_slug_unique" on "projects" ("team_id", "slug") where "deleted_at" is null;
create table "environments" (
  "id" uuid not null,
  "project_id" uuid not null,
  "name" varchar(255) not null,
  "slug" varchar(255) not null,
  "kind" varchar(255) not null,
  "approval_required" int not null,
  "approval_when" varchar(255) not null,
  "approval_allow_self" boolean not null,
  "ttl_seconds" int null,
  "eligibility_generation" int not null default 1,
  "revision" int not null default 1,
  "created_at" timestamptz(3) not null,
  "archived_at" timestamptz(3) null,
  "deleted_at" timestamptz(3) null,
  primary key ("id")
);
create unique index "environments_project_slug_unique" on "environments" ("project_id", "slug") where "deleted_at" is null;
create table "environment_variables" (
  "environment_id" uuid not null,
  "name" varchar(255) not null,
  "category" varchar(255) not null,
  "sensitive" boolean not null,
  "value" jsonb null,
  "sealed_value" bytea null,
  "revision" int not null default 1,
  "updated_at" timestamptz(3) not null,
  primary key ("environment_id", "name")
);
create table "team_members" (
  "id" uuid not null,
  "team_id" uuid not null,
  "principal_id" uuid not null,
  "role" varchar(255) not null,
  "created_at" timestamptz(3) not null,
  primary key ("id")
);
create index "team_members_team_id_index" on "team_members" ("team_id");
alter table "team_members" add constraint "team_members_principal_team_unique" unique ("principal_id", "team_id");
create table "templates" (
  "id" uuid not null,
  "team_id" uuid null,
  "name" varchar(255) not null,
  "slug" varchar(255) not null,
  "description" text not null default '',
  "tags" jsonb not null,
  "revision" int not null default 1,
  "created_at" timestamptz(3) not null,
  "archived_at" timestamptz(3) null,
  "deleted_at" timestamptz(3) null,
  primary key ("id")
);
create unique index "templates_team_slug_unique" on "templates" ("team_id", "slug") nulls not distinct where "deleted_at" is null;
create table "template_versions" (
  "id" uuid not null,
  "template_id" uuid not null,
  "version" varchar(255) not null,
  "spec" jsonb not null,
  "digest" varchar(255) not null,
  "files" jsonb not null,
  "commit" varchar(255) null,
  "changelog" text not null default '',
  "published_by" uuid not null,
  "created_at" timestamptz(3) not null,
  "yanked_at" timestamptz(3) null,
  "yanked_by" uuid null,
  primary key ("id")
);
alter table "template_versions" add constraint "template_versions_template_version_unique" unique ("template_id", "version");
create table "users" (
  "id" uuid not null,
  "email" varchar(255) not null,
  "email_key" varchar(255) null,
  "password_hash" varchar(255) not null,
  primary key ("id")
);
alter table "users" add constraint "users_email_key_unique" unique ("email_key");
create table "sessions" (
  "id" uuid not null,
  "user_id" uuid not null,
  "created_at" timestamptz(3) not null,
  "expires_at" timestamptz(3) not null,
  "revoked_at" timestamptz(3) null,
  "address" varchar(255) null,
  "user_agent" varchar(255) null,
  primary key ("id")
);
create index "sessions_user_id_index" on "sessions" ("user_id");
create table "workers" (
  "id" uuid not null,
  "host" varchar(255) not null,
  "process_id" int not null,
  "version" varchar(255) not null,
  "pools" jsonb not null,
  "tools" jsonb not null,
  "concurrency" int not null,
  "draining" boolean not null default false,
  "drain_requested_at" timestamptz(3) null,
  "started_at" timestamptz(3) not null,
  "heartbeat_at" timestamptz(3) not null,
  primary key ("id")
);
alter table "instance_slots" add constraint "instance_slots_instance_id_foreign" foreign key ("instance_id") references "instances" ("id") on update cascade on delete restrict;
alter table "organization_slugs" add constraint "organization_slugs_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on delete restrict;
alter table "organization_members" add constraint "organization_members_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on delete restrict;
alter table "organization_members" add constraint "organization_members_principal_id_foreign" foreign key ("principal_id") references "principals" ("id") on delete restrict;
alter table "api_keys" add constraint "api_keys_principal_id_foreign" foreign key ("principal_id") references "principals" ("id") on delete restrict;
alter table "api_key_uses" add constraint "api_key_uses_key_id_foreign" foreign key ("key_id") references "api_keys" ("id") on update cascade on delete cascade;
alter table "run_attempts" add constraint "run_attempts_run_id_foreign" foreign key ("run_id") references "runs" ("id") on delete restrict;
alter table "run_events" add constraint "run_events_run_id_foreign" foreign key ("run_id") references "runs" ("id") on delete restrict;
alter table "run_plans" add constraint "run_plans_run_id_foreign" foreign key ("run_id") references "runs" ("id") on update cascade on delete restrict;
alter table "run_reviews" add constraint "run_reviews_run_id_foreign" foreign key ("run_id") references "runs" ("id") on delete restrict;
alter table "state_versions" add constraint "state_versions_instance_id_foreign" foreign key ("instance_id") references "instances" ("id") on delete restrict;
alter table "teams" add constraint "teams_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on delete restrict;
alter table "projects" add constraint "projects_team_id_foreign" foreign key ("team_id") references "teams" ("id") on delete restrict;
alter table "environments" add constraint "environments_project_id_foreign" foreign key ("project_id") references "projects" ("id") on delete restrict;
alter table "environment_variables" add constraint "environment_variables_environment_id_foreign" foreign key ("environment_id") references "environments" ("id") on delete restrict;
alter table "team_members" add constraint "team_members_team_id_foreign" foreign key ("team_id") references "teams" ("id") on delete restrict;
alter table "team_members" add constraint "team_members_principal_id_foreign" foreign key ("principal_id") references "principals" ("id") on delete restrict;
alter table "templates" add constraint "templates_team_id_foreign" foreign key ("team_id") references "teams" ("id") on delete restrict;
alter table "template_versions" add constraint "template_versions_template_id_foreign" foreign key ("template_id") references "templates" ("id") on delete restrict;
alter table "users" add constraint "users_id_foreign" foreign key ("id") references "principals" ("id") on update cascade on delete restrict;
alter table "sessions" add constraint "sessions_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete restrict;

create table "worker_pools" (
  "name" varchar(255) not null,
  "team_ids" jsonb null,
  "environment_ids" jsonb null,
  "revision" int not null default 1,
  "created_at" timestamptz(3) not null,
  primary key ("name")
);

create table "audit_records" (
  "id" uuid not null,
  "at" timestamptz(3) not null,
  "actor_id" uuid null,
  "actor_type" text not null,
  "actor_name" text not null,
  "credential_id" uuid null,
  "action" text not null,
  "resource_type" text not null,
  "resource_id" text null,
  "organization_id" uuid null,
  "team_id" uuid null,
  "outcome" text not null,
  "request_id" text null,
  "address" text null,
  "before" jsonb null,
  "after" jsonb null,
  "seal" bytea null,
  primary key ("id", "at")
) partition by range ("at");
create table "audit_records_default" partition of "audit_records" default;
create index "audit_records_at_index" on "audit_records" ("at", "id");
create index "audit_records_resource_index" on "audit_records" ("resource_id", "at");
create index "audit_records_actor_index" on "audit_records" ("actor_id", "at");

create table "run_log_chunks" (
  "run_id" uuid not null,
  "sequence" int not null,
  "time" timestamptz(3) not null,
  "attempt_id" uuid not null,
  "phase" text not null,
  "stream" text not null,
  "first_line" int not null,
  "lines" int not null,
  "content" bytea not null,
  "checksum" text not null,
  primary key ("run_id", "sequence", "time")
) partition by range ("time");
create table "run_log_chunks_default" partition of "run_log_chunks" default;

create function make_month_partitions(parent text, since timestamptz, months int) returns void language plpgsql as $$
declare
  month timestamp;
begin
  for month in select generate_series(date_trunc('month', since at time zone 'UTC'),
                                      date_trunc('month', since at time zone 'UTC') + make_interval(months => months - 1),
                                      interval '1 month') loop
    if to_regclass(format('%I', parent || to_char(month, '_YYYY_MM'))) is null then
      execute format('create table if not exists %I partition of %I for values from (%L) to (%L)',
        parent || to_char(month, '_YYYY_MM'), parent, month at time zone 'UTC', (month + interval '1 month') at time zone 'UTC');
    end if;
  end loop;
end $$;
`;
