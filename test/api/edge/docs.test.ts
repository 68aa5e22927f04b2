import type { AddressInfo } from 'node:net';
import { Validator } from '@seriousme/openapi-schema-validator';
import type { FastifyInstance } from 'fastify';
import type { OpenAPIV3_1 } from 'openapi-types';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { docs } from '#api/edge/docs/docs.ts';
import { Id } from '#domain/shared/ids.ts';
import { createEdgeApp } from '#test/support/api/edge-app.ts';
import { findBrowser, launchBrowser, openWatchedPage } from '#test/support/browser/browser.ts';

const Time = z.codec(z.iso.datetime(), z.date(), {
  decode: (text) => new Date(text),
  encode: (date) => date.toISOString(),
});
const Thing = z
  .object({ id: Id, name: z.string(), created_at: Time, parent: Id.nullable() })
  .meta({ id: 'EdgeTestThing' });
const CreateThing = z.strictObject({
  name: z.string().min(1).max(64).describe('What people call it'),
  kind: z.enum(['small', 'large']).default('small'),
  source: z
    .discriminatedUnion('type', [
      z.strictObject({ type: z.literal('git'), url: z.url() }),
      z.strictObject({ type: z.literal('files'), files: z.record(z.string(), z.string()) }),
    ])
    .optional(),
});

let app: FastifyInstance;
let origin: string;
let document: OpenAPIV3_1.Document;

beforeAll(async () => {
  ({ app } = await createEdgeApp(async (server) => {
    await server.register(docs, { version: '1.2.3' });
    const list = z.strictObject({
      limit: z.coerce.number().int().min(1).max(200).default(50),
      cursor: z.string().optional(),
    });
    const page = z.object({ things: z.array(Thing), next_cursor: z.string().nullable() });
    const tags = ['things'];
    server.get(
      '/api/v1/things',
      {
        schema: {
          operationId: 'things.list',
          summary: 'List things',
          tags,
          querystring: list,
          response: { 200: page },
        },
      },
      async () => ({ things: [], next_cursor: null }),
    );
    server.post(
      '/api/v1/things',
      {
        schema: {
          operationId: 'things.create',
          summary: 'Create a thing',
          tags,
          body: CreateThing,
          response: { 201: Thing },
        },
      },
      async (_request, reply) => reply.code(201).send(),
    );
    const params = z.strictObject({ id: Id });
    server.delete(
      '/api/v1/things/:id',
      {
        schema: {
          operationId: 'things.delete',
          summary: 'Delete a thing',
          tags,
          params,
          response: { 204: z.undefined() },
        },
      },
      async (_request, reply) => reply.code(204).send(),
    );
    server.get(
      '/api/v1/system/version',
      {
        schema: {
          operationId: 'system.version',
          tags: ['system'],
          security: [],
          response: { 200: z.object({ api: z.string() }) },
        },
      },
      async () => ({ api: 'v1' }),
    );
    server.get('/undeclared', async () => ({}));
  }));
  await app.listen({ port: 0, host: '127.0.0.1' });
  origin = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  document = (await app.inject('/api/v1/openapi.json')).json();
});
afterAll(() => app.close());

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1', async () => {
    const validator = new Validator();
    const result = await validator.validate({ ...structuredClone(document) });
    expect(result).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
    expect(document.openapi).toBe('3.1.0');
  });

  it('contains every operation and nothing else', () => {
    expect(Object.keys(document.paths ?? {}).sort()).toEqual([
      '/api/v1/system/version',
      '/api/v1/things',
      '/api/v1/things/{id}',
    ]);
    expect(document.paths?.['/api/v1/things']?.get?.operationId).toBe('things.list');
    expect(document.paths?.['/api/v1/things/{id}']?.delete?.responses).toHaveProperty('204');
  });

  it('describes all parameters and fields, and allows no others', () => {
    const limit = document.paths?.['/api/v1/things']?.get?.parameters?.find(
      (each) => 'name' in each && each.name === 'limit',
    );
    expect(limit).toMatchObject({ in: 'query', required: false, schema: { default: 50, maximum: 200 } });
    const body = document.paths?.['/api/v1/things']?.post?.requestBody;
    expect(body).toMatchObject({
      content: {
        'application/json': {
          schema: { additionalProperties: false, required: ['name'], properties: { name: { maxLength: 64 } } },
        },
      },
    });
  });

  it('refers to named schemas, and describes times as text', () => {
    expect(document.paths?.['/api/v1/things']?.post?.responses?.['201']).toMatchObject({
      content: { 'application/json': { schema: { $ref: '#/components/schemas/EdgeTestThing' } } },
    });
    expect(document.components?.schemas?.['EdgeTestThing']).toMatchObject({
      properties: { created_at: { type: 'string', format: 'date-time' } },
    });
  });

  it('requires one of three credentials except for public operations', () => {
    expect(document.security).toEqual([{ sessionCookie: [] }, { bearer: [] }, { apiKey: [] }]);
    expect(document.components?.securitySchemes).toMatchObject({
      sessionCookie: { in: 'cookie', name: 'coordinator_session' },
      bearer: { scheme: 'bearer' },
      apiKey: { in: 'header', name: 'X-API-Key' },
    });
    expect(document.paths?.['/api/v1/system/version']?.get?.security).toEqual([]);
    expect(document.paths?.['/api/v1/things']?.get?.security).toBeUndefined();
  });

  it('describes the errors of every operation', () => {
    const operations = Object.values(document.paths ?? {}).flatMap(
      (item) => Object.values(item ?? {}) as OpenAPIV3_1.OperationObject[],
    );
    expect(operations).toHaveLength(4);
    for (const operation of operations)
      expect(operation.responses?.['default']).toEqual({ $ref: '#/components/responses/Error' });
  });

  it('answers 304 to a client that already has it', async () => {
    const first = await app.inject('/api/v1/openapi.json');
    const again = await app.inject({
      url: '/api/v1/openapi.json',
      headers: { 'if-none-match': String(first.headers['etag']) },
    });
    expect([again.statusCode, again.body]).toEqual([304, '']);
    expect((await app.inject('/api/docs/json')).json()).toEqual(document);
  });
});

describe.skipIf(findBrowser() === null)('the reference page, in a real browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  }, 30_000);
  afterAll(() => browser?.close());

  it.each(['/api/docs', '/api/docs/'])(
    '%s shows the operations without a credential, loads only from this server, and complies with its policy',
    async (path) => {
      const { page, watch } = await openWatchedPage(browser, origin);
      const response = await page.goto(`${origin}${path}`);
      const policy = response?.headers()['content-security-policy'] ?? '';
      expect(policy).toContain("default-src 'none'");
      expect(policy).not.toMatch(/unsafe|https?:/);
      await page.getByText('List things').waitFor();
      expect(await page.locator('.opblock').count()).toBe(4);
      await page.getByText('Create a thing').click();
      await page.locator('.opblock-section-request-body').getByText('"name": "string"').waitFor();
      await page.getByRole('button', { name: 'Authorize' }).first().click();
      await page.getByText('X-API-Key').first().waitFor();
      expect(await page.title()).toBe('delivery-coordinator API');
      expect(watch).toEqual({ violations: [], consoleErrors: [], pageErrors: [], outside: [], failed: [] });
      await page.close();
    },
    30_000,
  );

  it('lets a reader try a public operation', async () => {
    const { page, watch } = await openWatchedPage(browser, origin);
    await page.goto(`${origin}/api/docs`);
    await page.getByText('/api/v1/system/version').click();
    await page.getByRole('button', { name: 'Try it out' }).click();
    await page.getByRole('button', { name: 'Execute' }).click();
    await page.locator('.live-responses-table').getByText('"api"').first().waitFor();
    expect(watch).toEqual({ violations: [], consoleErrors: [], pageErrors: [], outside: [], failed: [] });
    await page.close();
  }, 30_000);

  it('reports a planted violation, so an empty list of violations is meaningful', async () => {
    const { page, watch } = await openWatchedPage(browser, origin);
    await page.goto(`${origin}/api/docs`);
    await page.evaluate(
      "document.body.append(Object.assign(document.createElement('img'), { src: 'http://outside.invalid/x.png' }))",
    );
    await expect.poll(() => watch.violations.join(' ')).toContain('outside.invalid');
    expect(watch.consoleErrors.length).toBeGreaterThan(0);
    await page.close();
  }, 30_000);
});
