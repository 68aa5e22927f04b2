import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import { OpenFiles } from '#api/edge/open-files.ts';
import { NotFound } from '#domain/shared/errors.ts';

const files = new OpenFiles(fileURLToPath(new URL('./assets/', import.meta.url)));

/** The address of an asset. It changes when any asset changes, so browsers may cache the file forever. */
export function assetUrl(name: string): string {
  if (!files.has(name)) throw new TypeError(`there is no asset ${name}`);
  return `/assets/${files.edition}/${name}`;
}

/**
 * Serves the assets of the pages. While two releases run side by side, a page of one may request the assets of the other:
 * it gets the files of this release, uncached.
 */
export async function registerAssets(app: FastifyInstance): Promise<void> {
  app.get<{ Params: { edition: string; name: string } }>(
    '/assets/:edition/:name',
    { config: { anyQuery: true } },
    async (request, reply) => {
      const { name, edition: asked } = request.params;
      if (!files.has(name)) throw new NotFound('the file');
      reply.header('cache-control', asked === files.edition ? 'public, max-age=31536000, immutable' : 'no-cache');
      return files.send(name, request, reply);
    },
  );
}
