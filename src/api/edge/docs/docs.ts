import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { OpenFiles } from '../open-files.ts';
import { openApiOptions } from './openapi.ts';

export type DocsOptions = {
  /** The release of the service. */
  version: string;
};

export const openApiPath = '/api/v1/openapi.json';
export const docsPath = '/api/docs';

/** The viewer has no inline styles or scripts. Its icons are data URLs in its own stylesheet. */
const docsPolicy = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self' data:",
  'connect-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
};

/**
 * Serves the OpenAPI document at `/api/v1/openapi.json` and the interactive reference at `/api/docs`. Both need no
 * credential and load nothing from other origins. Register this plugin before the operations, so that it sees their routes.
 */
export const docs = fp<DocsOptions>(
  async (app, { version }) => {
    await app.register(swagger, openApiOptions(version));
    await app.register(async (scope) => {
      scope.addHook('onRoute', (route) => {
        route.config = { ...route.config, anyQuery: true };
      });
      addDocument(scope);
      addViewerFiles(scope);
      await scope.register(swaggerUi, {
        routePrefix: docsPath,
        staticCSP: docsPolicy,
        theme: { title: 'delivery-coordinator API' },
        // BaseLayout has no top bar, which could load a document from any address.
        uiConfig: { layout: 'BaseLayout', docExpansion: 'list', persistAuthorization: false, validatorUrl: null },
      });
    });
  },
  { name: 'docs', fastify: '5.x', dependencies: ['security-headers', 'validation'] },
);

/** Builds the document at the first request: by then all operations are registered. */
function addDocument(app: FastifyInstance): void {
  let made: { text: string; tag: string } | undefined;
  app.get(openApiPath, async (request, reply) => {
    made ??= makeDocument(app);
    reply.header('cache-control', 'no-cache').header('etag', made.tag);
    if (request.headers['if-none-match'] === made.tag) return reply.code(304).send();
    return reply.type('application/json; charset=utf-8').send(made.text);
  });
}

/** Serves the viewer's static files from memory, instead of reading them from the library's directory at every request. */
function addViewerFiles(app: FastifyInstance): void {
  const library = dirname(createRequire(import.meta.url).resolve('@fastify/swagger-ui'));
  const files = new OpenFiles(join(library, 'static'));
  for (const name of files.names.filter((each) => each !== 'index.html')) {
    app.get(`${docsPath}/static/${name}`, { schema: { hide: true } }, (request, reply) => {
      reply.header('cache-control', 'no-cache');
      return files.send(name, request, reply);
    });
  }
}

function makeDocument(app: FastifyInstance): { text: string; tag: string } {
  const text = JSON.stringify(app.swagger());
  return { text, tag: `"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"` };
}
