/** A statement as the driver takes it: its values apart from its text, and a name under which it stays prepared. */
export interface Statement {
  readonly text: string;
  readonly values: unknown[];
  readonly name?: string;
}

interface Shape {
  readonly text: string;
  readonly name: string | undefined;
  readonly places: number;
}

/** More texts than the service has; beyond, statements are bound without staying prepared. */
const mostNames = 1_000;
const shapes = new Map<string, Shape>();

/**
 * Binds what MikroORM would write into the text of a statement, so that PostgreSQL parses and plans each text once a
 * connection, and no value is part of a text. Undefined where a value cannot be bound (a list, a raw fragment): such a
 * statement is sent as MikroORM writes it.
 */
export function bindStatement(query: string, params: readonly unknown[]): Statement | undefined {
  if (params.length === 0 || query.includes('??')) return undefined;
  const { text, name, places } = shapeOf(query);
  if (places !== params.length) return undefined;
  const values: unknown[] = [];
  for (const param of params) {
    const value = toBindable(param);
    if (value === undefined) return undefined;
    values.push(value);
  }
  return name === undefined ? { text, values } : { name, text, values };
}

/** The same for a text that has PostgreSQL's own placeholders, whose lists become arrays of PostgreSQL. */
export function nameStatement(text: string, parameters: readonly unknown[]): Statement {
  const values = parameters.map((value) => (Array.isArray(value) ? value : (toBindable(value) ?? null)));
  const name = nameOf(text);
  return name === undefined ? { text, values } : { name, text, values };
}

const names = new Map<string, string | undefined>();

function nameOf(text: string): string | undefined {
  const known = names.get(text);
  if (known !== undefined || names.has(text)) return known;
  if (names.size >= mostNames) return undefined;
  const name = staysTheSame(text) ? `q${names.size}` : undefined;
  names.set(text, name);
  return name;
}

function shapeOf(query: string): Shape {
  const known = shapes.get(query);
  if (known) return known;
  let places = 0;
  const text = query.replaceAll(/\\\?|\?/g, (found) => (found === '?' ? `$${++places}` : '?'));
  if (shapes.size >= mostNames) return { text, name: undefined, places };
  const shape = { text, places, name: staysTheSame(query) ? `s${shapes.size}` : undefined };
  shapes.set(query, shape);
  return shape;
}

/**
 * A statement that answers all columns of a table, whichever there are, is not kept prepared: after a migration has added
 * one, PostgreSQL refuses to run it.
 */
function staysTheSame(query: string): boolean {
  return !/\*(?!\))/.test(query.replaceAll('count(*)', ''));
}

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
  if (value === null) return null;
  if (value instanceof Date) return value.toISOString();
  if (Buffer.isBuffer(value)) return value;
  return Object.getPrototypeOf(value) === Object.prototype ? JSON.stringify(value) : undefined;
}
