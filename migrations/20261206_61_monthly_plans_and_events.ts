import { Migration } from '@mikro-orm/migrations';

/**
 * Plans and events move into partitions by month, so that retention drops months instead of deleting rows. Both are found by ids that begin with their
 * time (UUIDv7), so the ids decide the month. An id without a time stays in the default partition.
 *
 * Events of one subject lie in several partitions, and no constraint of PostgreSQL can span them. Each partition has its own one for the numbers of its
 * events. `event_numbers` keeps the last number of each subject whose last event was removed, so that no number is given twice.
 *
 * The release before this one reads and writes both tables as before.
 */
export class MonthlyPlansAndEvents extends Migration {
  override up(): void {
    this.addSql(monthOfId);
    this.addSql(firstIdAt);
    this.addSql(makePartitions);
    this.movePlans();
    this.moveEvents();
    this.addSql(`create table "event_numbers" (
  "subject_kind" varchar(255) not null,
  "subject_id" uuid not null,
  "sequence" int not null,
  "project_id" uuid null,
  primary key ("subject_kind", "subject_id")
)`);
  }

  private movePlans(): void {
    this.addSql(`lock table "run_plans" in access exclusive mode`);
    this.addSql(`alter table "run_plans" rename to "run_plans_before"`);
    this.addSql(`create table "run_plans" (like "run_plans_before" including defaults) partition by range ("run_id")`);
    this.addSql(`create table "run_plans_default" partition of "run_plans" default`);
    this.addSql(`insert into "run_plans" select * from "run_plans_before"`);
    this.addSql(`drop table "run_plans_before"`);
    this.addSql(`alter table "run_plans" add constraint "run_plans_pkey" primary key ("run_id")`);
    this.addSql(
      `alter table "run_plans" add constraint "run_plans_run_id_foreign" foreign key ("run_id") references "runs" ("id") on update cascade on delete restrict`,
    );
    this.addSql(`select make_month_partitions('run_plans', now(), 3)`);
  }

  private moveEvents(): void {
    this.addSql(`lock table "domain_events" in access exclusive mode`);
    this.addSql(`drop view "run_events"`);
    this.addSql(`alter table "domain_events" rename to "domain_events_before"`);
    this.addSql(
      `create table "domain_events" (like "domain_events_before" including defaults) partition by range ("id")`,
    );
    this.addSql(`alter sequence "domain_events_position_seq" owned by "domain_events"."position"`);
    this.addSql(`create table "domain_events_default" partition of "domain_events" default`);
    this.addSql(`insert into "domain_events" select * from "domain_events_before"`);
    this.addSql(`drop table "domain_events_before"`);
    this.addSql(`alter table "domain_events" add constraint "domain_events_pkey" primary key ("id")`);
    this.addSql(`create index "domain_events_transaction_index" on "domain_events" ("transaction_id")`);
    // Each later partition has its own copy of this constraint, since it is made like the default partition.
    this.addSql(
      `alter table "domain_events_default" add constraint "domain_events_default_subject_kind_subject_id_sequence_key" unique ("subject_kind", "subject_id", "sequence")`,
    );
    this.addSql(`select make_month_partitions('domain_events', now(), 3)`);
    this.addSql(`create view "run_events" as
select subject_id as run_id, sequence, type, data, created_at, id, subject_kind, actor_id, actor_type, actor_name
  from domain_events where subject_kind = 'run'`);
    this.addSql(`alter view "run_events" alter column "id" set default gen_random_uuid()`);
    this.addSql(`alter view "run_events" alter column "subject_kind" set default 'run'`);
    this.addSql(`alter view "run_events" alter column "actor_id" set default '00000000-0000-0000-0000-000000000000'`);
    this.addSql(`alter view "run_events" alter column "actor_type" set default 'system'`);
    this.addSql(`alter view "run_events" alter column "actor_name" set default 'coordinator'`);
  }
}

/** The month in which an id was made, as a time of UTC; null if the id holds no time (its version is not 7). */
const monthOfId = `
create function month_of_id(id uuid) returns timestamp language sql immutable strict parallel safe as $$
  select case when substr(id::text, 15, 1) = '7'
    then date_trunc('month', to_timestamp(('x' || translate(substr(id::text, 1, 13), '-', ''))::bit(48)::bigint / 1000.0) at time zone 'UTC') end
$$`;

/** The lowest id that can be made at a time of UTC. */
const firstIdAt = `
create function first_id_at(moment timestamp) returns uuid language sql immutable strict parallel safe as $$
  select (lpad(to_hex((extract(epoch from moment at time zone 'UTC') * 1000)::bigint), 12, '0') || '00000000000000000000')::uuid
$$`;

/**
 * Makes the partitions of months from `since` on, and of earlier months that have rows in the default partition. The partitioned column is a time, or an
 * id that begins with its time. A new partition is made like the default one, so it has the constraints that only partitions can have. It is
 * attached, because `create table … partition of` would make everybody wait who uses the parent.
 */
const makePartitions = `
create or replace function make_month_partitions(parent text, since timestamptz, months int) returns void language plpgsql as $$
declare
  rest text := parent || '_default';
  key text := (select a.attname from pg_partitioned_table p
                 join pg_attribute a on a.attrelid = p.partrelid and a.attnum = p.partattrs[0] where p.partrelid = parent::regclass);
  is_id boolean := (select a.atttypid = 'uuid'::regtype from pg_attribute a where a.attrelid = parent::regclass and a.attname = key);
  month_of text := case when is_id then format('month_of_id(%I)', key) else format('date_trunc(''month'', %I at time zone ''UTC'')', key) end;
  first_month timestamp := date_trunc('month', since at time zone 'UTC');
  last_month timestamp := first_month + make_interval(months => months - 1);
  wanted timestamp[];
  month timestamp;
  child text;
begin
  perform pg_advisory_xact_lock(hashtextextended('delivery-coordinator/partitions of ' || parent, 0));
  execute format(
    'select array(select generate_series($1, $2, interval ''1 month'') union
                  select %1$s from %2$I where %1$s is not null and (not $3 or %1$s between ''2020-01-01'' and $2))', month_of, rest)
    into wanted using first_month, last_month, is_id;
  foreach month in array wanted loop
    child := parent || to_char(month, '_YYYY_MM');
    if to_regclass(format('%I', child)) is null then
      execute format('lock table %I in access exclusive mode', rest);
      execute format('create table %I (like %I including all)', child, rest);
      execute format('with early as (delete from %I where %s = %L returning *) insert into %I select * from early',
        rest, month_of, month, child);
      if is_id then
        execute format('alter table %I attach partition %I for values from (%L) to (%L)',
          parent, child, first_id_at(month), first_id_at(month + interval '1 month'));
      else
        execute format('alter table %I attach partition %I for values from (%L) to (%L)',
          parent, child, month at time zone 'UTC', (month + interval '1 month') at time zone 'UTC');
      end if;
    end if;
  end loop;
end $$;
`;
