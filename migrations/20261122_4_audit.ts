import { Migration } from '@mikro-orm/migrations';

/**
 * What reading, keeping and sealing the audit need.
 *
 * Records are read in the order of ("at", "id"), by any of their filters: one index each, on the parent, so that every
 * partition has it. What is often asked for besides stands behind the time, where it is compared without a look at the
 * row. Refusals are few, and looked for among many. The index of all of them is partial on what is always true, for
 * whoever says so (`src/domain/audit/records.ts`).
 *
 * Sealing comes later: one sealer will walk the records in the same order and put each into a hash chain. "chain_position"
 * is a record's place in it, 1 for the first, and "seal" the digest over the seal before it and the record; both stay null
 * until then, and nothing else of a record ever changes.
 */
export class Audit extends Migration {
  override up(): void {
    this.addSql(`alter table "audit_records" add column "credential_type" text not null default 'system'`);
    this.addSql(`alter table "audit_records" add column "chain_position" bigint null`);
    for (const name of ['at', 'resource', 'actor']) this.addSql(`drop index "audit_records_${name}_index"`);
    for (const [name, columns, condition] of indexes) {
      const where = condition ? ` where ${condition}` : '';
      this.addSql(`create index "audit_records_${name}_index" on "audit_records" (${columns})${where}`);
    }
    this.addSql(makePartitions);
  }
}

const indexes: readonly (readonly [name: string, columns: string, condition?: string])[] = [
  ['at', '"at", "id"', `"outcome" in ('committed', 'refused')`],
  ['actor', '"actor_id", "at", "action"'],
  ['action', '"action", "at", "actor_id", "resource_type"'],
  ['resource', '"resource_id", "at"', '"resource_id" is not null'],
  ['resource_type', '"resource_type", "at", "actor_id"'],
  ['team', '"team_id", "at", "action"', '"team_id" is not null'],
  ['organization', '"organization_id", "at", "action"', '"organization_id" is not null'],
  ['request', '"request_id"', '"request_id" is not null'],
  ['refused', '"at", "action", "actor_id"', `"outcome" = 'refused'`],
];

/**
 * Months are attached, as `create table … partition of` would wait for everybody who reads or writes the parent, and let
 * everybody behind it wait as well. Rows that came before their month was made, and lie in the default partition, are
 * taken along: they would be in its way.
 */
const makePartitions = `
create or replace function make_month_partitions(parent text, since timestamptz, months int) returns void language plpgsql as $$
declare
  rest text := parent || '_default';
  time_column text := (select a.attname from pg_partitioned_table p
                         join pg_attribute a on a.attrelid = p.partrelid and a.attnum = p.partattrs[0]
                        where p.partrelid = parent::regclass);
  wanted timestamp[];
  month timestamp;
  child text;
begin
  perform pg_advisory_xact_lock(hashtextextended('delivery-coordinator/partitions of ' || parent, 0));
  execute format(
    'select array(select generate_series(date_trunc(''month'', $1 at time zone ''UTC''),
                                         date_trunc(''month'', $1 at time zone ''UTC'') + make_interval(months => $2 - 1),
                                         interval ''1 month'')
                  union select date_trunc(''month'', %I at time zone ''UTC'') from %I)', time_column, rest)
    into wanted using since, months;
  foreach month in array wanted loop
    child := parent || to_char(month, '_YYYY_MM');
    if to_regclass(format('%I', child)) is null then
      execute format('lock table %I in access exclusive mode', rest);
      execute format('create table %I (like %I including all)', child, parent);
      execute format('with early as (delete from %I where date_trunc(''month'', %I at time zone ''UTC'') = %L returning *)
                      insert into %I select * from early', rest, time_column, month, child);
      execute format('alter table %I attach partition %I for values from (%L) to (%L)',
        parent, child, month at time zone 'UTC', (month + interval '1 month') at time zone 'UTC');
    end if;
  end loop;
end $$;
`;
