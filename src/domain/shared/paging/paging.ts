import { type SelectQueryBuilder, type SqlBool, type StringReference, sql } from 'kysely';
import { z } from 'zod';
import type { Em } from '#database/database.ts';
import { queriesOf } from '#database/queries.ts';
import { Invalid } from '../errors.ts';
import { isId } from '../ids.ts';
import { Decimal } from '../values/decimal.ts';
import { maxInteger } from '../values/storable.ts';
import { wholeNumber } from '../values/whole-number.ts';

/**
 * The maximum size of all rows of one page, roughly in bytes of their JSON. A page ends before the row that would exceed it, and has a
 * cursor to the next page as usual. A single row that is larger makes a page of its own.
 */
const maxPageBytes = 1024 * 1024;

/** How many rows of these sizes, from the first one, are on one page. */
function countFitting(sizes: Iterable<number>): number {
  let rows = 0;
  let bytes = 0;
  for (const size of sizes) {
    bytes += size;
    if (rows > 0 && bytes > maxPageBytes) break;
    rows += 1;
  }
  return rows;
}

const otherBytes = 8;
const separatorBytes = 4;

/** About how many bytes the JSON of a value has. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value) + separatorBytes;
  if (typeof value !== 'object' || value === null || value instanceof Date) return otherBytes;
  if (value instanceof Decimal) return value.writtenDigits;
  if (ArrayBuffer.isView(value)) return value.byteLength;
  let bytes = separatorBytes;
  if (Array.isArray(value)) for (const item of value) bytes += sizeOf(item);
  else for (const [name, member] of Object.entries(value)) bytes += name.length + separatorBytes + sizeOf(member);
  return bytes;
}

/** How many rows a page has if the reader does not say how many. */
export const usualRows = 50;
/** How many rows a reader may ask for. */
export const maxRows = 200;

/**
 * The query of every list. A cursor names the last row of the page before, so every page costs the same. A page with large rows holds fewer
 * than `limit`.
 */
export const pageQuery = {
  limit: wholeNumber({ min: 1, max: maxRows }).default(usualRows),
  cursor: z.string().max(200).optional(),
};

export interface PageRequest {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

export interface Page<T> {
  readonly items: T[];
  readonly nextCursor: string | null;
}

/**
 * Runs a list for one page, newest first. The query itself must contain the conditions on what the caller may see, so that a page contains
 * only such rows. `idColumn` orders the list and is selected as `id`.
 * @throws Invalid for a cursor that is not a `nextCursor` of such a list
 */
export async function pageOf<Db, From extends keyof Db, Row extends { id: string }>(
  query: SelectQueryBuilder<Db, From, Row>,
  idColumn: StringReference<Db, From> & string,
  request: PageRequest,
): Promise<Page<Row>> {
  const id = sql.ref<string>(idColumn);
  const after = afterId(request);
  const rest = after === null ? query : query.where(sql<SqlBool>`${id} < ${after}`);
  const rows = await rest
    .orderBy(id, 'desc')
    .limit(request.limit + 1)
    .execute();
  return toPage(rows, request);
}

/**
 * `pageOf` for rows that may be large, such as values that templates choose: it first reads the sizes of the rows, and then only the rows
 * of the page.
 */
export async function pageOfLarge<Db, From extends keyof Db, Row extends { id: string }>(
  em: Em,
  query: SelectQueryBuilder<Db, From, Row>,
  idColumn: StringReference<Db, From> & string,
  request: PageRequest,
): Promise<Page<Row>> {
  const id = sql.ref<string>(idColumn);
  const after = afterId(request);
  const rest = after === null ? query : query.where(sql<SqlBool>`${id} < ${after}`);
  const found = rest.orderBy(id, 'desc').limit(request.limit + 1);
  const { rows: sizes } = await sql<{ id: string; bytes: number }>`
    select row.id, octet_length(row_to_json(row)::text) as bytes from ${found} row order by row.id desc`.execute(
    queriesOf(em),
  );
  const ids = sizes
    .slice(0, Math.min(request.limit, countFitting(sizes.map(({ bytes }) => bytes))))
    .map((row) => row.id);
  const items = await query.where(sql<SqlBool>`${id} = any(${ids}::uuid[])`).orderBy(id, 'desc').execute();
  const last = ids.at(-1);
  return { items, nextCursor: last !== undefined && sizes.length > ids.length ? toCursor(last) : null };
}

/**
 * Runs a list for one page, by name. `nameColumn` orders the list and is selected as `name`; `isName` says whether a text
 * can be a name of the list.
 * @throws Invalid for a cursor that is not a `nextCursor` of such a list
 */
export async function pageByName<Db, From extends keyof Db, Row extends { name: string }>(
  query: SelectQueryBuilder<Db, From, Row>,
  nameColumn: StringReference<Db, From> & string,
  request: PageRequest,
  isName: (text: string) => boolean,
): Promise<Page<Row>> {
  const name = sql<string>`${sql.ref(nameColumn)} collate "C"`;
  const rows = await query
    .where(sql<SqlBool>`${name} > ${afterName(request, isName)}`)
    .orderBy(name)
    .limit(request.limit + 1)
    .execute();
  return toNamedPage(rows, request);
}

/**
 * A page of a list in which a rule decides about each row. `read` returns the rows after an id, in order. The function reads until the page
 * is full or `max` rows were examined, so a page may hold fewer items than its limit, or none, and still not be the last.
 * @throws Invalid for a cursor that is not a `nextCursor` of such a list
 */
export async function pageByRule<Row extends { id: string }>(
  request: PageRequest,
  { read, isListed, max }: ListByRule<Row>,
): Promise<Page<Row>> {
  const items: Row[] = [];
  const sizes: number[] = [];
  let after = afterId(request);
  for (let looked = 0; looked < max; looked += rowsAtOnce) {
    const rows = await read(after, rowsAtOnce);
    for (const row of rows) {
      if (items.length === request.limit) return { items, nextCursor: toCursor(after ?? '') };
      if (isListed(row)) {
        sizes.push(sizeOf(row));
        if (countFitting(sizes) < sizes.length) return { items, nextCursor: toCursor(after ?? '') };
        items.push(row);
      }
      after = row.id;
    }
    if (rows.length < rowsAtOnce) return { items, nextCursor: null };
  }
  return { items, nextCursor: toCursor(after ?? '') };
}

interface ListByRule<Row> {
  readonly read: (after: string | null, limit: number) => Promise<readonly Row[]>;
  readonly isListed: (row: Row) => boolean;
  /** The maximum number of rows that one page examines. */
  readonly max: number;
}

const rowsAtOnce = 100;

/** A number by which a list is ordered: its column, how to read it from a row, and the direction. */
interface NumberOrder<Row> {
  readonly column: string;
  readonly of: (row: Row) => number;
  readonly direction: 'asc' | 'desc';
}

/**
 * Runs a list for one page, ordered by a number that is unique among the rows.
 * @throws Invalid for a cursor that is not a `nextCursor` of such a list
 */
export async function pageByNumber<Db, From extends keyof Db, Row extends object>(
  query: SelectQueryBuilder<Db, From, Row>,
  { column, of, direction }: NumberOrder<Row>,
  request: PageRequest,
): Promise<Page<Row>> {
  const number = sql.ref<number>(column);
  const after = afterNumber(request);
  const isBehind = direction === 'asc' ? sql<SqlBool>`${number} > ${after}` : sql<SqlBool>`${number} < ${after}`;
  const rows = await (after === null ? query : query.where(isBehind))
    .orderBy(number, direction)
    .limit(request.limit + 1)
    .execute();
  return cutPage(rows, request, (row) => String(of(row)));
}

/** The number after which the page starts; null for the first one. */
function afterNumber({ cursor }: PageRequest): number | null {
  if (cursor === undefined) return null;
  const text = Buffer.from(cursor, 'base64url').toString();
  const number = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (!(number <= maxInteger) || toCursor(text) !== cursor) throw changedCursor();
  return number;
}

/** The id after which the page starts, newest first; null for the first page. */
export function afterId({ cursor }: PageRequest): string | null {
  if (cursor === undefined) return null;
  const id = Buffer.from(cursor, 'base64url').toString();
  if (!isId(id) || toCursor(id) !== cursor) throw changedCursor();
  return id;
}

/** The name after which the page of a list by name starts; empty for the first one. */
function afterName({ cursor }: PageRequest, isName: (text: string) => boolean): string {
  if (cursor === undefined) return '';
  const name = Buffer.from(cursor, 'base64url').toString();
  if (!isName(name) || toCursor(name) !== cursor) throw changedCursor();
  return name;
}

function changedCursor(): Invalid {
  return new Invalid('cursor: expected a next_cursor of this list, unchanged');
}

/** Cuts a result of `limit + 1` rows to its page. */
export function toPage<T extends { id: string }>(rows: T[], request: PageRequest): Page<T> {
  return cutPage(rows, request, ({ id }) => id);
}

/** Cuts a result of `limit + 1` rows of a list by name to its page. */
function toNamedPage<T extends { name: string }>(rows: T[], request: PageRequest): Page<T> {
  return cutPage(rows, request, ({ name }) => name);
}

function cutPage<T>(rows: T[], { limit }: PageRequest, placeOf: (row: T) => string): Page<T> {
  const items = rows.slice(0, Math.min(limit, countFitting(sizesOf(rows))));
  const last = items.at(-1);
  const more = rows.length > items.length && last !== undefined;
  return { items, nextCursor: more ? toCursor(placeOf(last)) : null };
}

function* sizesOf(rows: readonly unknown[]): Generator<number> {
  for (const row of rows) yield sizeOf(row);
}

/** Names the last row of a page. */
function toCursor(place: string): string {
  return Buffer.from(place).toString('base64url');
}
