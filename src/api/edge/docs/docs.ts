import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance, onSendAsyncHookHandler } from 'fastify';
import fp from 'fastify-plugin';
import type { OpenAPIV3, OpenAPIV3_1 } from 'openapi-types';
import { canIPagePath } from '../can-i-page.ts';
import { acceptsGzip, compress } from '../compression.ts';
import { OpenFiles } from '../open-files.ts';
import { readOnDemand } from './read-on-demand.ts';
import { sendWithTypedKey } from './typed-credentials.ts';

/** Styles for screens that are narrower than the viewer's rows. Rows wrap, and content that cannot wrap scrolls within its own area. */
const narrowScreens = `@media (max-width: 640px) {
  .swagger-ui .opblock-tag { flex-wrap: wrap; }
  .swagger-ui .opblock-tag > a { flex: 1 1 0; min-width: 0; overflow-wrap: anywhere; }
  .swagger-ui .opblock-tag > small { flex: 1 0 100%; min-width: 0; order: 1; padding: 0; overflow-wrap: anywhere; }
  .swagger-ui .opblock-body { overflow-x: auto; }
}
`;

export type DocsOptions = {
  /** Makes the document. Called at the first request that needs it. */
  describe: () => OpenAPIV3_1.Document;
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
 * credential and load nothing from other origins.
 */
export const docs = fp<DocsOptions>(
  async (app, { describe }) => {
    const read = onceWritten(describe);
    // The viewer's plugins write this object as JSON and as YAML. Schemas that operations share would become aliases in YAML, and parsers
    // refuse so many of them. An object that was parsed from the text shares nothing.
    const document = { toJSON: () => JSON.parse(read().text) } as unknown as OpenAPIV3.Document;
    await app.register(swagger, { mode: 'static', specification: { document } });
    await app.register(async (scope) => {
      scope.addHook('onRoute', (route) => {
        route.config = { ...route.config, anyQuery: true };
      });
      scope.addHook('onSend', compressorOfConstants());
      addDocument(scope, read);
      addViewerFiles(scope);
      addCanIPage(scope);
      await scope.register(swaggerUi, {
        routePrefix: docsPath,
        staticCSP: docsPolicy,
        theme: {
          title: 'delivery-coordinator API',
          css: [{ filename: 'narrow-screens.css', content: narrowScreens }],
        },
        // BaseLayout has no top bar, which could load a document from any address.
        uiConfig: {
          layout: 'BaseLayout',
          // A group draws its operations when somebody opens it: all of them at once take a browser many seconds.
          docExpansion: 'none',
          // Each operation shows its own schemas. A list of all of them helps nobody find one.
          defaultModelsExpandDepth: -1,
          filter: true,
          plugins: [foldWebhooks, readOnDemand, sendWithTypedKey],
          persistAuthorization: false,
          validatorUrl: null,
        },
      });
    });
  },
  { name: 'docs', fastify: '5.x', dependencies: ['security-headers', 'validation'] },
);

/** Compresses each address only once, because these answers do not change while the process lives. */
function compressorOfConstants(): onSendAsyncHookHandler {
  const compressed = new Map<string, Promise<Buffer>>();
  return async (request, reply, payload) => {
    const isText = /json|javascript|css/.test(String(reply.getHeader('content-type')));
    if (reply.statusCode !== 200 || !isText || !(typeof payload === 'string' || Buffer.isBuffer(payload)))
      return payload;
    reply.header('vary', 'accept-encoding');
    if (!acceptsGzip(request)) return payload;
    const address = request.routeOptions.url ?? request.url;
    const content = compressed.get(address) ?? compress(payload);
    compressed.set(address, content);
    reply.header('content-encoding', 'gzip').removeHeader('content-length');
    return content;
  };
}

/** The document as text, and its entity tag. */
type WrittenDocument = { readonly text: string; readonly tag: string };

/** Writes the document when it is first asked for, because making it is a sixth of the work of starting the API. */
function onceWritten(describe: DocsOptions['describe']): () => WrittenDocument {
  let written: WrittenDocument | undefined;
  return () => {
    written ??= write(JSON.stringify(describe()));
    return written;
  };
}

function write(text: string): WrittenDocument {
  return { text, tag: `"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"` };
}

function addDocument(app: FastifyInstance, read: () => WrittenDocument): void {
  app.get(openApiPath, async (request, reply) => {
    const { text, tag } = read();
    reply.header('cache-control', 'no-cache').header('etag', tag);
    if (request.headers['if-none-match'] === tag) return reply.code(304).send();
    return reply.type('application/json; charset=utf-8').send(text);
  });
}

/** Serves the page about `can-i` as its source text. Every 403 links to it. */
function addCanIPage(app: FastifyInstance): void {
  const text = readFileSync(new URL('../../../../docs/can-i.md', import.meta.url), 'utf8');
  app.get(canIPagePath, { schema: { hide: true } }, (_request, reply) =>
    reply.header('cache-control', 'no-cache').type('text/plain; charset=utf-8').send(text),
  );
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

/** The arguments that the viewer passes to a function that wraps one of its components. */
interface ViewerSystem {
  readonly React: {
    createElement(type: unknown, properties: object | null, ...children: unknown[]): unknown;
    useState(initial: boolean): [boolean, (next: boolean) => void];
  };
}

/**
 * A plugin of the viewer that draws the list of webhooks only when somebody opens it. The viewer itself draws every event at once. The
 * browser gets the source text of this function, so it must not refer to anything outside itself.
 */
function foldWebhooks({ React }: ViewerSystem) {
  const wrap = (Webhooks: unknown) => (properties: object) => {
    const [isOpen, setOpen] = React.useState(false);
    const button = React.createElement(
      'button',
      { className: 'btn', 'aria-expanded': isOpen, onClick: () => setOpen(!isOpen) },
      isOpen ? 'Hide the webhooks' : 'Show the webhooks: what is sent to your service for each event',
    );
    const list = isOpen ? React.createElement(Webhooks, properties) : null;
    return React.createElement('section', { className: 'wrapper' }, button, list);
  };
  return { wrapComponents: { Webhooks: wrap } };
}
