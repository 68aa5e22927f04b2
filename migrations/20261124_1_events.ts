import { Migration } from '@mikro-orm/migrations';

/**
 * One table of events for every area, which the events of runs move into, and an outbox for several subscribers. The release
 * before this one goes on writing and reading events of runs as `run_events`, which is a view now. Drop the view in a later
 * release. The lock keeps that release from adding events while they move.
 */
export class Events extends Migration {
  override up(): void {
    this.addSql(`create table "domain_events" (
  "id" uuid not null,
  "position" bigserial not null,
  "subject_kind" varchar(255) not null,
  "subject_id" uuid not null,
  "sequence" int not null,
  "type" varchar(255) not null,
  "data" jsonb not null,
  "organization_id" uuid null,
  "team_id" uuid null,
  "actor_id" uuid not null,
  "actor_type" varchar(255) not null,
  "actor_name" varchar(255) not null,
  "transaction_id" xid8 not null default pg_current_xact_id(),
  "created_at" timestamptz(3) not null,
  primary key ("id")
)`);
    this.addSql(`lock table "run_events" in access exclusive mode`);
    this.addSql(`insert into domain_events (id, subject_kind, subject_id, sequence, type, data, organization_id, team_id,
                            actor_id, actor_type, actor_name, created_at)
select gen_random_uuid(), 'run', e.run_id, e.sequence, e.type, e.data, t.organization_id, r.team_id,
       case e.type when 'run.admitted' then r.requested_by_id else '00000000-0000-0000-0000-000000000000' end,
       case e.type when 'run.admitted' then r.requested_by_type else 'system' end,
       case e.type when 'run.admitted' then r.requested_by_name else coalesce(e.data ->> 'by', 'coordinator') end, e.created_at
  from run_events e join runs r on r.id = e.run_id left join teams t on t.id = r.team_id
 order by e.created_at, e.run_id, e.sequence`);
    this.addSql(
      `alter table "domain_events" add constraint "domain_events_subject_sequence_unique" unique ("subject_kind", "subject_id", "sequence")`,
    );
    this.addSql(`create index "domain_events_transaction_index" on "domain_events" ("transaction_id")`);
    this.addSql(`drop table "run_events"`);
    this.addSql(`create view "run_events" as
select subject_id as run_id, sequence, type, data, created_at, id, subject_kind, actor_id, actor_type, actor_name
  from domain_events where subject_kind = 'run'`);
    this.addSql(`alter view "run_events" alter column "id" set default gen_random_uuid()`);
    this.addSql(`alter view "run_events" alter column "subject_kind" set default 'run'`);
    this.addSql(`alter view "run_events" alter column "actor_id" set default '00000000-0000-0000-0000-000000000000'`);
    this.addSql(`alter view "run_events" alter column "actor_type" set default 'system'`);
    this.addSql(`alter view "run_events" alter column "actor_name" set default 'coordinator'`);
    this.addSql(`alter table "outbox" add column "subscriber" varchar(255) not null default 'engine'`);
    this.addSql(`drop index "outbox_target_index"`);
    this.addSql(`drop index "outbox_due_index"`);
    this.addSql(`create index "outbox_target_index" on "outbox" ("subscriber", "target", "id")`);
    this.addSql(`create index "outbox_due_index" on "outbox" ("subscriber", "due_at", "id")`);
  }
}
