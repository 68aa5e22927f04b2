import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { NotFound } from '#domain/shared/errors.ts';

const directory = new URL('./assets/', import.meta.url);
const names: ReadonlySet<string> = new Set(readdirSync(directory));
const edition = hashAssets();

/** The address of a file of the pages. It changes whenever any of them does, so browsers may keep it for good. */
export function assetUrl(name: string): string {
  if (!names.has(name)) throw new TypeError(`there is no asset ${name}`);
  return `/assets/${edition}/${name}`;
}

/**
 * Serves the files of the pages. While two releases run side by side a page of one may ask the other for its files: it
 * gets what there is, and asks again next time.
 */
export async function registerAssets(app: FastifyInstance): Promise<void> {
  await app.register(fastifyStatic, { root: fileURLToPath(directory), serve: false, cacheControl: false });
  app.get<{ Params: { edition: string; name: string } }>(
    '/assets/:edition/:name',
    { config: { anyQuery: true } },
    async (request, reply) => {
      const { name, edition: asked } = request.params;
      if (!names.has(name)) throw new NotFound('the file');
      reply.header('cache-control', asked === edition ? 'public, max-age=31536000, immutable' : 'no-cache');
      return reply.sendFile(name);
    },
  );
}

function hashAssets(): string {
  const hash = createHash('sha256');
  for (const name of [...names].sort()) hash.update(`${name}\0`).update(readFileSync(new URL(name, directory)));
  return hash.digest('base64url').slice(0, 16);
}
