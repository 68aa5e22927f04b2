/** A statement for the driver: its values apart from its text, and a name under which it stays prepared. */
export interface Statement {
  readonly text: string;
  readonly values: unknown[];
  /** Undefined: PostgreSQL parses and plans the statement each time. */
  readonly name?: string;
}

/**
 * More texts than the service has. Further texts are sent without a name: callers could cause any number of them, and each takes memory.
 */
let maximumTexts = 1_000;

/** Lets a process with more code than the service, such as one that runs tests, keep more texts prepared. */
export function keepPrepared(texts: number): void {
  maximumTexts = texts;
}

/**
 * A statement whose placeholders are PostgreSQL's own ($1, $2, …), as Kysely writes it. Lists become PostgreSQL arrays.
 * @throws Error for a value that PostgreSQL cannot represent, such as a function
 */
export function toStatement(text: string, parameters: readonly unknown[]): Statement {
  return named(
    text,
    parameters.map((value) => {
      const bound = Array.isArray(value) ? value : toBindable(value);
      if (bound === undefined) throw new Error(`a ${typeof value} cannot be a parameter of a statement`);
      return bound;
    }),
  );
}

/** The columns of a table that is the table of an entity; undefined for any other. */
type ColumnsOf = (table: string) => readonly string[] | undefined;

/**
 * Like `toStatement`, for a statement whose placeholders are question marks, as MikroORM writes it. Undefined if a value cannot be bound (a
 * list, a raw fragment): MikroORM then writes the values into the text itself.
 * @param columnsOf names the columns of an entity that MikroORM reads as a whole, so that the statement stays prepared
 */
export function toStatementOfMikroOrm(
  query: string,
  parameters: readonly unknown[],
  columnsOf: ColumnsOf = () => undefined,
): Statement | undefined {
  if (parameters.length === 0 || query.includes('??')) return undefined;
  const { text, places } = numberPlaceholders(query, columnsOf);
  const values = parameters.map(toBindable);
  return places === parameters.length && !values.includes(undefined) ? named(text, values) : undefined;
}

function named(text: string, values: unknown[]): Statement {
  const name = nameOf(text);
  return name === undefined ? { text, values } : { name, text, values };
}

const names = new Map<string, string | undefined>();

/** The name under which a text stays prepared, the same in every connection; undefined if it does not stay prepared. */
function nameOf(text: string): string | undefined {
  const known = names.get(text);
  if (known !== undefined || names.has(text) || names.size >= maximumTexts) return known;
  const name = selectsAllColumns(text) ? undefined : `s${names.size}`;
  names.set(text, name);
  return name;
}

/**
 * Whether a statement returns all columns of a table. After a migration has added a column, PostgreSQL refuses to run such a prepared
 * statement.
 */
export function selectsAllColumns(text: string): boolean {
  return /(?:\b(?:select|distinct|returning)|[,.])\s*\*/i.test(text);
}

interface NumberedText {
  readonly text: string;
  /** How many placeholders it has. */
  readonly places: number;
}

const numbered = new Map<string, NumberedText>();

/**
 * Numbers the placeholders: `? … ?` → `$1 … $2`. MikroORM writes `\?` for a question mark that is not a placeholder. Names the columns of
 * an entity: `select "r0".* from "runs" as "r0"` → `select "r0"."id", … from "runs" as "r0"`.
 */
function numberPlaceholders(query: string, columnsOf: ColumnsOf): NumberedText {
  const known = numbered.get(query);
  if (known) return known;
  let places = 0;
  const text = query
    .replaceAll(/\\\?|\?/g, (found) => (found === '?' ? `$${++places}` : '?'))
    .replace(/^select "(\w+)"\.\* from "(\w+)" as "\1"/, (whole, alias: string, table: string) => {
      const named = columnsOf(table)?.map((column) => `"${alias}"."${column}"`);
      return named ? `select ${named.join(', ')} from "${table}" as "${alias}"` : whole;
    });
  if (numbered.size < maximumTexts) numbered.set(query, { text, places });
  return { text, places };
}

/** A value for the driver; undefined if it cannot be bound. */
function toBindable(value: unknown): unknown {
  switch (typeof value) {
    case 'string':
    case 'number':
    case 'boolean':
      return value;
    case 'bigint':
      return value.toString();
    case 'undefined':
      return null;
    case 'object':
      return toBindableObject(value);
    default:
      return undefined;
  }
}

function toBindableObject(value: object | null): unknown {
  if (value === null || value instanceof Uint8Array) return value;
  if (value instanceof Date) return value.toISOString();
  return Object.getPrototypeOf(value) === Object.prototype ? JSON.stringify(value) : undefined;
}
