import { createHash } from 'node:crypto';
import { fstatSync, openSync, readdirSync, readFileSync, read as readWithCallback } from 'node:fs';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import type { FastifyReply, FastifyRequest } from 'fastify';

const read = promisify(readWithCallback);

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
};

type OpenFile = { readonly descriptor: number; readonly size: number; readonly tag: string; readonly type: string };

/**
 * The files of a directory, opened at construction. A process that later drops its privileges may no longer traverse the parent
 * directories, but can still read open files.
 */
export class OpenFiles {
  readonly #files: ReadonlyMap<string, OpenFile>;
  /** A hash of the content of all files. */
  readonly edition: string;

  constructor(directory: string) {
    const names = readdirSync(directory).filter((name) => extname(name) in types);
    this.#files = new Map(names.sort().map((name) => [name, openFile(join(directory, name))]));
    const tags = [...this.#files].map(([name, { tag }]) => `${name}\0${tag}`);
    this.edition = shorten(createHash('sha256').update(tags.join('\0')));
  }

  get names(): string[] {
    return [...this.#files.keys()];
  }

  has(name: string): boolean {
    return this.#files.has(name);
  }

  /** Sends a file, or 304 if the client already has it. */
  async send(name: string, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const file = this.#files.get(name);
    if (file === undefined) throw new TypeError(`there is no file ${name}`);
    reply.header('etag', file.tag);
    if (request.headers['if-none-match'] === file.tag) return reply.code(304).send();
    const content = Buffer.allocUnsafe(file.size);
    const { bytesRead } = await read(file.descriptor, content, 0, file.size, 0);
    return reply.type(file.type).send(content.subarray(0, bytesRead));
  }
}

function openFile(path: string): OpenFile {
  const descriptor = openSync(path, 'r');
  const { size } = fstatSync(descriptor);
  const tag = `"${shorten(createHash('sha256').update(readFileSync(path)))}"`;
  return { descriptor, size, tag, type: types[extname(path)] ?? 'application/octet-stream' };
}

function shorten(hash: ReturnType<typeof createHash>): string {
  return hash.digest('base64url').slice(0, 16);
}
