import type { Connection, Pool, Submittable } from 'pg';

const signature = Buffer.from('PGCOPY\n\u00ff\r\n\0', 'latin1');
const noFlagsNoExtension = Buffer.alloc(8);
const end = Buffer.from([0xff, 0xff]);

/** Copies values into the only column of a table by one `COPY … FROM STDIN` in PostgreSQL's binary format. */
export async function copyIn(database: Pool, table: string, values: readonly Buffer[]): Promise<void> {
  const client = await database.connect();
  try {
    await new Promise<void>((resolve, reject) => {
      client.query(
        new CopyIn(`copy ${table} from stdin (format binary)`, values, (error) => (error ? reject(error) : resolve())),
      );
    });
  } finally {
    client.release();
  }
}

/** Reads the rows of a query by one `COPY … TO STDOUT` and discards them. @returns how many bytes it read */
export async function copyOut(database: Pool, query: string): Promise<number> {
  const client = await database.connect();
  try {
    return await new Promise<number>((resolve, reject) => {
      client.query(new CopyOut(`copy (${query}) to stdout`, resolve, reject));
    });
  } finally {
    client.release();
  }
}

class CopyOut implements Submittable {
  readonly #statement: string;
  readonly #resolve: (bytes: number) => void;
  readonly #reject: (error: Error) => void;
  #bytes = 0;

  constructor(statement: string, resolve: (bytes: number) => void, reject: (error: Error) => void) {
    this.#statement = statement;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  submit(connection: Connection): void {
    connection.query(this.#statement);
  }

  handleCopyData({ chunk }: { chunk: Buffer }): void {
    this.#bytes += chunk.length;
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.#resolve(this.#bytes);
  }

  handleError(error: Error): void {
    this.#reject(error);
  }
}

/** A COPY into the database. The driver has none, but it passes the messages of the protocol to a custom query. */
class CopyIn implements Submittable {
  readonly #statement: string;
  readonly #values: readonly Buffer[];
  readonly #done: (error?: Error) => void;

  constructor(statement: string, values: readonly Buffer[], done: (error?: Error) => void) {
    this.#statement = statement;
    this.#values = values;
    this.#done = done;
  }

  submit(connection: Connection): void {
    connection.query(this.#statement);
  }

  handleCopyInResponse(connection: Connection): void {
    const [write, finish] = [writerOf(connection, 'sendCopyFromChunk'), writerOf(connection, 'endCopyFrom')];
    write(Buffer.concat([signature, noFlagsNoExtension]));
    for (const value of this.#values) {
      const head = Buffer.alloc(6);
      head.writeInt16BE(1, 0);
      head.writeInt32BE(value.length, 2);
      write(Buffer.concat([head, value]));
    }
    write(end);
    finish();
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.#done();
  }

  handleError(error: Error): void {
    this.#done(error);
  }
}

/** Two methods of the driver's connection that its types lack. */
function writerOf(connection: Connection, name: 'sendCopyFromChunk' | 'endCopyFrom'): (chunk?: Buffer) => void {
  const method: unknown = Reflect.get(connection, name);
  if (typeof method !== 'function') throw new Error(`the driver's connection has no method ${name}`);
  return method.bind(connection);
}
