import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { sqlState } from '#database/errors.ts';
import { db } from '#domain/db.ts';
import { Invalid } from '#domain/shared/errors.ts';
import { noTimeZone } from '#domain/shared/values/times.ts';
import { refuseEmptyPeriod } from './filter.ts';

/** A period as a client names it: each end is a time, or a day, which means its first moment in the time zone. */
export interface NamedPeriod {
  readonly from: string | undefined;
  readonly to: string | undefined;
  /** Fits the schema `TimeZone`: PostgreSQL would take almost any text for a zone of its own. */
  readonly timeZone: string;
}

export interface Period {
  readonly from: Date;
  readonly to: Date;
  readonly timeZone: string;
  /** Every day that has a moment in the period, as `2026-01-31`. */
  readonly days: readonly string[];
}

/** A period without a beginning has this many days. Its last day is the one that contains its end. */
const usualDays = 30;
export const maxDays = 366;

/**
 * The moments and the days of a period. PostgreSQL computes them, so that they agree with its counts.
 * @throws Invalid for a time zone that PostgreSQL does not know, and for a period that is empty or too long
 */
export async function findPeriod(em: Em, named: NamedPeriod): Promise<Period> {
  const { timeZone } = named;
  refuseLongPeriod(named);
  const timeOf = (text: string) =>
    isDay(text) ? sql`${text}::timestamp at time zone ${timeZone}` : sql`${new Date(text).toISOString()}::timestamptz`;
  const local = (time: unknown) => sql`(${time}) at time zone ${timeZone}`;
  const to = named.to === undefined ? sql`clock_timestamp()` : timeOf(named.to);
  const beforeEnd = sql`${to} - interval '1 millisecond'`;
  const usualFrom = sql`(date_trunc('day', ${local(beforeEnd)}) - make_interval(days => ${usualDays - 1})) at time zone ${timeZone}`;
  const from = named.from === undefined ? usualFrom : timeOf(named.from);
  const bounds = db(em).selectNoFrom([
    sql`(${from})::timestamptz(3)`.as('from'),
    sql`(${to})::timestamptz(3)`.as('to'),
  ]);
  const days = sql<string[]>`array(select to_char(day, 'YYYY-MM-DD') from generate_series(
    (${local(sql.ref('b.from'))})::date, (${local(sql`${sql.ref('b.to')} - interval '1 millisecond'`)})::date, interval '1 day') day)`;
  const finding = db(em)
    .selectFrom(bounds.as('b'))
    .select([milliseconds('b.from').as('from'), milliseconds('b.to').as('to'), days.as('days')])
    .executeTakeFirstOrThrow();
  const found = await finding.catch((error) => {
    throw sqlState(error) === unknownZoneState ? unknownZone(timeZone) : error;
  });
  const period = { timeZone, days: found.days, from: new Date(found.from), to: new Date(found.to) };
  refuseUnknownYears(period);
  refuseEmptyPeriod(period);
  return period;
}

/** The SQLSTATE of a parameter with a wrong value: a zone that PostgreSQL does not know. */
const unknownZoneState = '22023';

function unknownZone(timeZone: string): Invalid {
  return new Invalid(`time_zone: ${noTimeZone(timeZone)}`);
}

/** Milliseconds since 1970. JavaScript misreads PostgreSQL's text of a time in the first century. */
function milliseconds(column: 'b.from' | 'b.to') {
  return sql<number>`(extract(epoch from ${sql.ref(column)}) * 1000)::float8`;
}

/** The days of these times are in the years 0001 to 9999 of every time zone. */
const earliest = new Date('0001-01-02T00:00:00Z');
const latest = new Date('9999-12-31T00:00:00Z');

function refuseUnknownYears({ from, to }: Period): void {
  if (from >= earliest && to <= latest) return;
  throw new Invalid('from, to: expected a period from 0001-01-02 at the earliest to 9999-12-31 at the latest, in UTC');
}

function refuseLongPeriod({ from, to }: NamedPeriod): void {
  const end = to === undefined ? Date.now() : Date.parse(to);
  if (from === undefined || end - Date.parse(from) <= maxDays * 24 * 60 * 60_000) return;
  throw new Invalid(`from, to: a period has at most ${maxDays} days: ask for a later \`from\`, or for several periods`);
}

function isDay(text: string): boolean {
  return !text.includes('T');
}
