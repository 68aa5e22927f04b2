import type { EntityManager as Em } from '@mikro-orm/postgresql';
import {
  type CompiledQuery,
  createQueryId,
  createSelectQueryBuilder,
  DefaultQueryExecutor,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresDialect,
  type QueryExecutor,
  type SelectQueryBuilder,
  type SelectQueryNode,
} from 'kysely';
import { ColumnNamingCompiler } from './compiler.ts';
import { BindingConnection } from './connection.ts';
import { selectsAllColumns } from './statements.ts';

const adapter = new PostgresAdapter();
const compiler = new ColumnNamingCompiler();
const driver = new DummyDriver();
const dialect = new PostgresDialect({
  pool: () => Promise.reject(new Error('queries run on the connection of the entity manager')),
});

/**
 * Kysely over the connection of an entity manager, in its transaction if it has one. Statements stay prepared on the server, so write `=
 * any(…)` for lists instead of `in (…)`, whose text depends on the length of the list.
 */
export function queriesOf<Tables = unknown>(em: Em): Kysely<Tables> {
  return new Kysely<Tables>({ config: { dialect }, driver, executor: executorOf(em), dialect });
}

function executorOf(em: Em): QueryExecutor {
  return new DefaultQueryExecutor(compiler, adapter, {
    provideConnection: (use) => use({ executeQuery: (query) => runCompiled(em, query), streamQuery: refuseStream }),
  });
}

/** Something that Kysely can turn into a statement, such as a finished query builder. */
export interface Compilable<Row> {
  compile(): CompiledQuery<Row>;
}

/** Stands for a value that is known only when a prepared query runs. */
class Placeholder {
  readonly name: PropertyKey;

  constructor(name: PropertyKey) {
    this.name = name;
  }
}

/** Names a parameter at its place in a prepared query. */
export type ParameterOf<Parameters> = <Name extends keyof Parameters>(name: Name) => Parameters[Name];

/** A statement that is built once. A call only binds values to it, and sends nothing. */
export type PreparedStatement<Parameters, Row> = (parameters: Parameters) => Compilable<Row>;

/** A query that is built once and run often. */
export interface PreparedQuery<Parameters, Row> {
  (em: Em, parameters: Parameters): Promise<Row[]>;
  readonly statement: PreparedStatement<Parameters, Row>;
}

/**
 * Builds a statement once, at its first use, for code in which building it each time would cost too much. `parameter('id')` stands for a
 * value and has its type, but can only be used in the statement. The statement names the columns that it returns.
 */
export function prepareStatement<Tables, Parameters extends object, Row>(
  build: (db: Kysely<Tables>, parameter: ParameterOf<Parameters>) => Compilable<Row>,
): PreparedStatement<Parameters, Row> {
  let prepared: CompiledQuery<Row> | undefined;
  return (parameters) => ({
    compile: () => {
      prepared ??= compilePreparable(build(unconnected as Kysely<Tables>, (name) => new Placeholder(name) as never));
      const values = prepared.parameters.map((value) =>
        value instanceof Placeholder ? parameters[value.name as keyof Parameters] : value,
      );
      return { ...prepared, parameters: values };
    },
  });
}

/** @throws Error for a statement that PostgreSQL would parse and plan at each call, which would cost more than building it */
function compilePreparable<Row>(statement: Compilable<Row>): CompiledQuery<Row> {
  const compiled = statement.compile();
  if (selectsAllColumns(compiled.sql)) throw new Error(`a prepared statement must name its columns: ${compiled.sql}`);
  return compiled;
}

/** `prepareStatement` for a query that is sent by itself. */
export function prepareQuery<Tables, Parameters extends object, Row>(
  build: (db: Kysely<Tables>, parameter: ParameterOf<Parameters>) => Compilable<Row>,
): PreparedQuery<Parameters, Row> {
  const statement = prepareStatement(build);
  const run = async (em: Em, parameters: Parameters) => {
    const { rows } = await runCompiled<Row>(em, statement(parameters).compile());
    return rows;
  };
  return Object.assign(run, { statement });
}

/**
 * Builds the constant part of a query once, at its first use, for a list with many columns. The
 * function returns that query, and each call adds its own conditions.
 */
export function prepareStart<Tables, From, Alias extends keyof From, Row>(
  build: (db: Kysely<Tables>) => SelectQueryBuilder<From, Alias, Row>,
): (em: Em) => SelectQueryBuilder<From, Alias, Row> {
  let queryNode: SelectQueryNode | undefined;
  return (em) => {
    queryNode ??= build(unconnected as Kysely<Tables>).toOperationNode();
    return createSelectQueryBuilder({ queryId: createQueryId(), executor: executorOf(em), queryNode });
  };
}

/**
 * Sends several changes as one statement, and returns the rows of the last. PostgreSQL runs them in no particular order, so two of them
 * must not affect the same row.
 */
export async function runTogether<Row>(
  em: Em,
  changes: readonly Compilable<unknown>[],
  last: Compilable<unknown>,
): Promise<Row[]> {
  const compiled = [...changes, last].map((change) => change.compile());
  const parameters = compiled.flatMap((one) => one.parameters);
  const { rows } = await runCompiled<Row>(em, { sql: joinTexts(compiled), parameters });
  return rows;
}

/** The size of the cache. The same few combinations of statements are sent again and again. */
const maxJoined = 1000;
const joined = new Map<string, string>();

/** Joins statements into one. It takes the parameters of the first statement, then those of the second, and so on. */
function joinTexts(statements: readonly Pick<CompiledQuery, 'sql' | 'parameters'>[]): string {
  const key = statements.map(({ sql }) => sql).join(';');
  const known = joined.get(key);
  if (known !== undefined) return known;
  let before = 0;
  const texts = statements.map(({ sql, parameters }) => {
    const text = renumber(sql, before);
    before += parameters.length;
    return text;
  });
  const others = texts.slice(0, -1).map((text, index) => `change_${index} as (${text})`);
  const text = others.length === 0 ? `${texts[0]}` : `with ${others.join(', ')} ${texts.at(-1)}`;
  if (joined.size < maxJoined) joined.set(key, text);
  return text;
}

/** The text of a statement whose parameters come after `before` others. */
export function renumber(sql: string, before: number): string {
  return sql.replaceAll(/\$(\d+)/g, (_, place) => `$${before + Number(place)}`);
}

const unconnected = new Kysely<unknown>({
  dialect: {
    createAdapter: () => adapter,
    createDriver: () => driver,
    createIntrospector: () => {
      throw new Error('introspection is not supported');
    },
    createQueryCompiler: () => compiler,
  },
});

/** Sends a statement on the connection of an entity manager, in its transaction if it has one. */
export function send(em: Em, sql: string, parameters: readonly unknown[], rows: 'objects' | 'lists') {
  const connection = em.getConnection();
  if (!(connection instanceof BindingConnection)) throw new Error('the database was opened with another driver');
  return connection.run(sql, parameters, em.getTransactionContext(), rows);
}

async function runCompiled<Row>(em: Em, { sql, parameters }: Pick<CompiledQuery, 'sql' | 'parameters'>) {
  const { rows, rowCount } = await send(em, sql, parameters, 'objects');
  return { rows: rows as Row[], ...(rowCount !== null && { numAffectedRows: BigInt(rowCount) }) };
}

function refuseStream(): never {
  throw new Error('streaming is not supported');
}
