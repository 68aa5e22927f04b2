import { Validator } from '@seriousme/openapi-schema-validator';
import type { OpenAPIV3_1 } from 'openapi-types';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { describeApi } from '#api/document/document.ts';
import { DocumentSchemas } from '#api/document/schemas.ts';
import { operations, tags } from '#api/operations.ts';
import { isPublic } from '#api/pipeline/operation.ts';
import { connectionKinds } from '#domain/connections/kinds/kinds.ts';
import { topicNames } from '#domain/news/model.ts';
import { channelDisabledReasons, channelKinds } from '#domain/notification-channels/model.ts';
import { disabledReasons } from '#domain/webhooks/model.ts';

type Operation = OpenAPIV3_1.OperationObject;
type Schema = OpenAPIV3_1.SchemaObject;

const document = JSON.parse(JSON.stringify(describeApi(operations, '1.2.3', tags))) as OpenAPIV3_1.Document;
const described = Object.entries(document.paths ?? {}).flatMap(([path, methods]) =>
  Object.entries(methods as Record<string, Operation>).map(([method, operation]) => ({ path, method, operation })),
);
const schemas = document.components?.schemas as Record<string, Schema>;

function describedAs(id: string): Operation {
  const found = described.find(({ operation }) => operation.operationId === id);
  if (!found) throw new Error(`the document has no operation ${id}`);
  return found.operation;
}

/** Every object inside a value, with its path. */
function* objectsIn(value: unknown, path = '#'): Generator<[path: string, object: Record<string, unknown>]> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield [path, value as Record<string, unknown>];
  for (const [name, member] of Object.entries(value)) yield* objectsIn(member, `${path}/${name}`);
}

function resolve(reference: string): unknown {
  return reference
    .slice(2)
    .split('/')
    .reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], document);
}

/** The schemas of all bodies and of all answers in JSON. */
const exchanged = described.flatMap(({ operation }) => {
  const body = operation.requestBody as OpenAPIV3_1.RequestBodyObject | undefined;
  const successes = Object.entries(operation.responses ?? {}).filter(([status]) => status.startsWith('2'));
  const contents = successes.map(([, response]) => (response as OpenAPIV3_1.ResponseObject).content);
  return [body?.content, ...contents].flatMap((content) => {
    const schema = content?.['application/json']?.schema;
    return schema ? [[operation.operationId, schema] as const] : [];
  });
});

describe('the OpenAPI document of the service', () => {
  it('describes every message that webhooks and channels send, each under a type of its own', () => {
    const types = Object.keys(document.webhooks ?? {});
    expect(types).toEqual(expect.arrayContaining(['run.finished', 'audit.recorded', 'webhook.test']));
    expect(types).toEqual(expect.arrayContaining(topicNames.map((topic) => `notification.${topic}`)));
    expect(types).toContain('notification_channel.test');
  });

  it('is valid OpenAPI 3.1', async () => {
    expect(await new Validator().validate(structuredClone(document) as never)).toEqual({ valid: true });
  });

  it('has every operation, once', () => {
    const ids = described.map(({ operation }) => operation.operationId);
    expect(ids.toSorted()).toEqual(operations.map(({ id }) => id).toSorted());
    expect(described).toHaveLength(operations.length);
  });

  it('has the settings of each kind of connection and channel, with the kind as discriminator', () => {
    const branches = (name: string) => {
      const { oneOf = [], discriminator } = schemas[name] as Schema;
      expect(discriminator?.propertyName).toBe('kind');
      const mapped = Object.entries(discriminator?.mapping ?? {});
      expect(mapped.map(([, reference]) => ({ $ref: reference }))).toEqual(oneOf);
      return Object.fromEntries(mapped.map(([kind, reference]) => [kind, resolve(reference) as Schema]));
    };
    const connections = branches('CreateConnection');
    expect(Object.keys(connections).toSorted()).toEqual(connectionKinds.toSorted());
    expect(connections['git']?.required).toEqual(['name', 'kind', 'config', 'credentials']);
    expect(connections['generic']?.required).toEqual(['name', 'kind', 'credentials']);
    expect(connections['cloud']?.required).toEqual(['name', 'kind', 'config']);
    expect(schemas['GitConnectionConfig']?.properties).toHaveProperty('url.title', 'URL');
    const channels = branches('CreateNotificationChannel');
    expect(Object.keys(channels).toSorted()).toEqual(channelKinds.toSorted());
    expect(schemas['EmailChannelConfig']?.required).toEqual(['recipients']);
  });

  it('has no broken reference', () => {
    const references = [...objectsIn(document)].flatMap(([path, { $ref }]) =>
      typeof $ref === 'string' ? [[path, $ref] as const] : [],
    );
    expect(references.length).toBeGreaterThan(500);
    expect(references.filter(([, reference]) => resolve(reference) === undefined)).toEqual([]);
  });

  it('has a named schema for every body and every response', () => {
    // The file of a state is any JSON: the service answers it as the tool wrote it.
    const unnamed = exchanged.filter(([id, schema]) => !('$ref' in schema) && id !== 'instances.download_state');
    expect(unnamed).toEqual([]);
  });

  it('allows unknown members in responses', () => {
    const names = described.flatMap(({ operation }) =>
      Object.entries(operation.responses ?? {}).flatMap(([, response]) =>
        [...objectsIn(response)].flatMap(([, { $ref }]) => (typeof $ref === 'string' ? [$ref] : [])),
      ),
    );
    const closed = [...new Set(names)].filter((name) =>
      [...objectsIn(resolve(name))].some(([, schema]) => schema['additionalProperties'] === false),
    );
    expect(closed).toEqual([]);
  });

  it('describes every id as a UUID, every time as RFC 3339, and no number by the limits of JavaScript', () => {
    const parts = [...objectsIn(schemas)].filter(([path]) => /_(id|at)$/.test(path) || path.endsWith('/id'));
    const free = parts.filter(([, schema]) => {
      const types = [schema['type']].flat();
      return types.includes('string') && schema['format'] === undefined;
    });
    // These name things of several kinds, some of which have no UUID.
    const named =
      /Actor|AuditRecord|Identity\/properties\/credential|request_id|message_id|resource_id|Change\/properties\/imported|Quota\/properties\/id|SigningKey\/properties\/key_id|access_key_id/;
    expect(free.map(([path]) => path).filter((path) => !named.test(path))).toEqual([]);
    expect(JSON.stringify(document)).not.toContain('9007199254740991');
  });

  it.each([
    ['ListedWebhook', disabledReasons],
    ['ListedNotificationChannel', channelDisabledReasons],
  ])('describes every reason for which the service disables a %s', (view, reasons) => {
    const disabledReason = schemas[view]?.properties?.['disabled_reason'] as Schema;
    for (const [code, message] of Object.entries(reasons))
      expect(disabledReason.description).toContain(`\`${code}\`: ${message}`);
  });

  it('describes any JSON value as {}', () => {
    expect(schemas['SetEnvironmentVariable']?.properties?.['value']).toEqual({ description: expect.any(String) });
    expect(Object.keys(schemas).filter((name) => name.startsWith('__'))).toEqual([]);
  });

  it('describes the default of a member in words, so that generated clients may omit the member', () => {
    expect(schemas['CreateRun']?.properties?.['operation']).toMatchObject({
      description: expect.stringContaining('Default: `"apply"`.'),
    });
    const withDefault = [...objectsIn(schemas)].filter(([, schema]) => 'default' in schema);
    expect(withDefault.map(([path]) => path)).toEqual([]);
  });

  it('limits every number of a request to the range of its column, and has the defaults of queries', () => {
    const limit = (describedAs('runs.get_logs').parameters as OpenAPIV3_1.ParameterObject[]).find(
      ({ name }) => name === 'limit',
    );
    expect(limit).toMatchObject({
      required: false,
      schema: { type: 'integer', minimum: 1, maximum: 1000, default: 200 },
    });
    const parameters = described.flatMap(
      ({ operation }) => (operation.parameters ?? []) as OpenAPIV3_1.ParameterObject[],
    );
    const bodies = described.flatMap(({ operation }) => operation.requestBody ?? []);
    const named = new Set(
      [...objectsIn(bodies)].flatMap(([, { $ref }]) => (typeof $ref === 'string' ? [resolve($ref)] : [])),
    );
    const numbers = [...objectsIn([...parameters, ...named])].filter(([, { type }]) =>
      [type].flat().includes('integer'),
    );
    expect(numbers.length).toBeGreaterThan(30);
    const held = (path: string) => (path.includes('_bytes/') ? 2 ** 51 : 2 ** 31);
    expect(numbers.filter(([path, schema]) => !(Number(schema['maximum']) < held(path))).map(([path]) => path)).toEqual(
      [],
    );
  });

  it('marks a body as required only if the operation refuses a request without it', () => {
    const required = (id: string) => (describedAs(id).requestBody as OpenAPIV3_1.RequestBodyObject).required;
    expect([required('runs.create'), required('runs.cancel'), required('profile.rotate_api_key')]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('requires no body of a POST whose every field is optional', () => {
    const bodies = operations.flatMap(({ id, route, body }) =>
      route.startsWith('POST ') && body ? [{ id, body }] : [],
    );
    const accepts = (body: (typeof bodies)[number]['body'], value: unknown) => body.safeParse(value).success;
    const required = bodies.filter(({ body }) => accepts(body, {}) && !accepts(body, undefined));
    expect(required.map(({ id }) => id)).toEqual([]);
  });

  it('declares the media types of texts, streams and downloads', () => {
    const types = (id: string) => {
      const success = describedAs(id).responses?.['200'] as OpenAPIV3_1.ResponseObject | undefined;
      return Object.keys(success?.content ?? {});
    };
    expect(types('runs.get_logs')).toEqual(['application/json', 'text/plain']);
    expect(types('runs.stream_logs')).toEqual(['text/event-stream']);
    expect(types('audit_records.export')).toEqual(['application/x-ndjson', 'text/csv']);
    expect(types('instances.download_state')).toEqual(['application/json']);
  });

  it('declares that the validation of an assembly without a draft answers 409', () => {
    expect(Object.keys(describedAs('assemblies.validate').responses ?? {})).toContain('409');
  });

  it('declares each error by its status, and the outcome in a 503', () => {
    for (const { operation } of described) {
      expect(operation.responses).not.toHaveProperty('default');
      expect(Object.keys(operation.responses ?? {})).toEqual(
        expect.arrayContaining(['400', '401', '429', '500', '503']),
      );
    }
    expect(Object.keys(describedAs('teams.delete').responses ?? {})).toEqual(
      expect.arrayContaining(['204', '403', '404', '409']),
    );
    expect(schemas['Unavailable']?.properties).toHaveProperty('outcome');
  });

  it('declares no error that an operation never returns', () => {
    const statusesOf = (id: string) => Object.keys(describedAs(id).responses ?? {});
    expect(statusesOf('audit_records.export'), 'its query names the media type').not.toContain('406');
    expect(statusesOf('auth.can_i'), 'it answers 400 to another content type').not.toContain('415');
    expect(statusesOf('runs.create')).toContain('415');
  });

  it('declares the headers of requests and answers', () => {
    const headers = (id: string) =>
      (describedAs(id).parameters as OpenAPIV3_1.ParameterObject[])
        .filter((parameter) => parameter.in === 'header')
        .map(({ name, required }) => [name, required]);
    expect(headers('teams.delete')).toEqual([
      ['Idempotency-Key', true],
      ['If-Match', false],
    ]);
    expect(headers('runs.stream_logs')).toEqual([['Last-Event-ID', false]]);
    expect(headers('projects.update')).toEqual([['If-Match', false]]);
    expect(describedAs('runs.create').responses?.['202']).toMatchObject({
      headers: { Location: {}, 'Idempotency-Key': {}, 'X-Request-ID': {}, 'RateLimit-Remaining': {} },
    });
  });

  it('requires one of three credentials, except in public operations', () => {
    expect(document.security).toEqual([{ sessionCookie: [] }, { bearer: [] }, { apiKey: [] }]);
    for (const { id, access } of operations) {
      expect([id, describedAs(id).security]).toEqual([id, isPublic(access) ? [] : undefined]);
    }
  });

  it('describes each group of operations', () => {
    const tags = document.tags ?? [];
    expect(new Set(described.flatMap(({ operation }) => operation.tags))).toEqual(
      new Set(tags.map(({ name }) => name)),
    );
    expect(tags.filter(({ description }) => !description)).toEqual([]);
  });
});

it('a document with two different schemas of one name is refused', () => {
  const document = new DocumentSchemas();
  document.describe(z.object({ a: z.string().meta({ id: 'Twin' }) }));
  expect(() => document.describe(z.object({ a: z.number().meta({ id: 'Twin' }) }))).toThrow('Twin');
});
