import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, extname } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { acceptsGzip } from '#api/edge/compression.ts';
import { NotFound } from '#domain/shared/errors.ts';

interface Asset {
  readonly type: string;
  readonly content: Buffer;
  readonly gzipped: Buffer;
  readonly tag: string;
}

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const directory = new URL('./assets/', import.meta.url);

/** The scripts of packages, by the names in the addresses of pages. */
const packageScripts = {
  'htmx.js': 'htmx.org/dist/htmx.min.js',
  'htmx-sse.js': 'htmx.org/dist/ext/hx-sse.min.js',
} as const;

/**
 * Scripts that every page has, as one file each, because every request costs time. The first runs before the page is drawn, the
 * second when it has been parsed. They are served only as these files.
 */
const bundles = {
  'before.js': ['theme.js', 'times.js'],
  'common.js': [
    'keys.js',
    'reachable.js',
    'forms.js',
    'kept-fields.js',
    'kept-text.js',
    'lines.js',
    'htmx.js',
    'htmx-sse.js',
    'live.js',
    'inbox.js',
    'clear-result-params.js',
  ],
} as const;

/** All assets are read at the start, because a process that drops its privileges may no longer read them later. */
const assets = readAssets();

/** A hash of all assets. It is part of their addresses. */
const edition = hash([...assets].map(([name, { tag }]) => `${name} ${tag}`).join('\n'));

/** The address of an asset. It changes when any asset changes, so browsers may cache the file forever. */
export function assetUrl(name: string): string {
  if (!assets.has(name)) throw new TypeError(`there is no asset ${name}`);
  return `/assets/${edition}/${name}`;
}

/**
 * The modules that a module imports, directly or through others. A browser finds an import only when it has read the module around it, so a
 * page preloads all of them.
 */
export function importsOf(name: string): readonly string[] {
  const found = new Set<string>();
  const follow = (each: string) => {
    for (const [, imported = ''] of String(assets.get(each)?.content ?? '').matchAll(importedModule)) {
      if (found.has(imported)) continue;
      found.add(imported);
      follow(imported);
    }
  };
  follow(name);
  return [...found];
}

const importedModule = /^import [^;]*from '\.\/([\w-]+\.js)';$/gm;

/**
 * Serves the assets of the pages. While two releases run side by side, a page of one may request the assets of the other:
 * it gets the files of this release, uncached.
 */
export async function registerAssets(app: FastifyInstance): Promise<void> {
  app.get<{ Params: { edition: string; name: string } }>(
    '/assets/:edition/:name',
    { config: { anyQuery: true } },
    async (request, reply) => {
      const asset = assets.get(request.params.name);
      if (!asset) throw new NotFound('the file');
      const isCurrent = request.params.edition === edition;
      reply.header('cache-control', isCurrent ? 'public, max-age=31536000, immutable' : 'no-cache');
      return send(asset, request, reply);
    },
  );
}

function send({ type, content, gzipped, tag }: Asset, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const isGzipped = acceptsGzip(request);
  // The compressed and the plain file are different representations, so their tags differ.
  const encodedTag = `"${tag}${isGzipped ? '-gzip' : ''}"`;
  reply.headers({ etag: encodedTag, vary: 'accept-encoding' });
  if (request.headers['if-none-match'] === encodedTag) return reply.code(304).send();
  if (isGzipped) reply.header('content-encoding', 'gzip');
  return reply.type(type).send(isGzipped ? gzipped : content);
}

/** The stylesheet is made of all files below `styles`, in the order of their names, whatever their folders. */
function readAssets(): ReadonlyMap<string, Asset> {
  const styles = [...filesBelow('styles')].map(([, content]) => content);
  const files = readFiles();
  const bundled = new Set<string>(Object.values(bundles).flat());
  return new Map<string, Asset>([
    ['coordinator.css', toAsset('.css', Buffer.concat(styles))],
    ...Object.entries(bundles).map(([name, parts]): [string, Asset] => [name, toAsset('.js', bundle(parts, files))]),
    ...[...files]
      .filter(([name]) => !bundled.has(name))
      .map(([name, content]): [string, Asset] => [name, toAsset(extname(name), content)]),
  ]);
}

/** The files that are served as they are, and the parts of the bundles, by name. */
function readFiles(): ReadonlyMap<string, Buffer> {
  const require = createRequire(import.meta.url);
  const images = namesIn('').map((name): [string, Buffer] => [name, readFileSync(new URL(name, directory))]);
  const packaged = Object.entries(packageScripts).map(([name, path]): [string, Buffer] => [
    name,
    readFileSync(require.resolve(path)),
  ]);
  return new Map([...images, ...filesBelow('scripts'), ...packaged]);
}

/** The files of a folder and of its subfolders, by name and in the order of their names. Addresses have no folders. */
function filesBelow(folder: string): ReadonlyMap<string, Buffer> {
  const found = readdirSync(new URL(folder, directory), { recursive: true, encoding: 'utf8' })
    .filter((path) => extname(path) in types)
    .map((path): [string, Buffer] => [basename(path), readFileSync(new URL(`${folder}/${path}`, directory))]);
  const files = new Map(found.sort(([one], [other]) => (one < other ? -1 : 1)));
  if (files.size < found.length) throw new TypeError(`two files below ${folder} have one name`);
  return files;
}

/** Joins scripts. A semicolon keeps the end of one from continuing in the next. */
function bundle(names: readonly string[], files: ReadonlyMap<string, Buffer>): Buffer {
  return Buffer.concat(
    names.flatMap((name) => {
      const content = files.get(name);
      if (!content) throw new TypeError(`there is no script ${name}`);
      return [content, Buffer.from('\n;\n')];
    }),
  );
}

function namesIn(folder: string): string[] {
  return readdirSync(new URL(folder, directory))
    .filter((name) => extname(name) in types)
    .sort();
}

function toAsset(extension: string, content: Buffer): Asset {
  const type = types[extension] ?? 'application/octet-stream';
  return { type, content, gzipped: gzipSync(content, { level: 9 }), tag: hash(content) };
}

function hash(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('base64url').slice(0, 16);
}
