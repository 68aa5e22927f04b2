import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { reviewAccess } from '#api/access-reviews/access-review.ts';
import { operations } from '#api/operations.ts';
import { Catalogue, catalogueOf } from '#api/pipeline/catalogue.ts';
import { command, isPublic, type Operation, read } from '#api/pipeline/operation.ts';
import type { Em } from '#database/database.ts';
import type { Access, AccessReview } from '#domain/shared/access/decide.ts';
import { anonymous, type Principal } from '#domain/shared/access/principal.ts';
import { newId } from '#domain/shared/ids.ts';

const administrator: Principal = { ...anonymous, kind: 'user', role: 'admin', id: newId() };
const settings: Access = { anyOf: ['settings.manage'], scope: 'platform', hidden: 'not_found', review: 'none' };

/** An operation without an implementation. */
function declare(id: `${string}.${string}`, route: Operation['route'], reviewed: Access['review']) {
  return read({
    id,
    route,
    summary: id,
    responses: { 200: z.object({}) },
    handle: async () => ({}),
    params: z.strictObject(Object.fromEntries([...route.matchAll(/:(\w+)/g)].map(([, name]) => [name, z.string()]))),
    access: { ...settings, review: reviewed },
  });
}

function ask(
  list: readonly Operation[],
  question: { resource: string; verb: string; name?: string },
  { principal = administrator, em = {} as Em } = {},
) {
  const failures: unknown[] = [];
  const onFailure = (error: unknown) => failures.push(error);
  const readCaller = async () => principal;
  const context = { catalogue: new Catalogue(list), principal, em, found: undefined, onFailure, readCaller };
  return reviewAccess(context, question).then((verdict) => ({
    ...verdict,
    failures,
  }));
}

describe('the catalogue', () => {
  const list = { resource: 'things', verb: 'list' };

  it('contains a review of every operation of the service', () => {
    const guarded = operations.flatMap(({ id, access }) => (isPublic(access) ? [] : [{ id, review: access.review }]));
    const reviewed = catalogueOf(operations).entries.map(({ operation }) => operation.id);
    const others = guarded.filter(({ review: each }) => each === 'none' || 'inherits' in each).map(({ id }) => id);
    expect([...reviewed, ...others].sort()).toEqual(guarded.map(({ id }) => id).sort());
  });

  it('names every resource with a plural in snake_case', () => {
    for (const { review: each } of catalogueOf(operations).entries) {
      expect(each.resource).toMatch(/^(people|[a-z]+(_[a-z]+)*s)$/);
      expect(each.verb).toMatch(/^[a-z]+(_[a-z]+)*$/);
    }
  });

  it('finds the target of every named review', () => {
    const unsought = catalogueOf(operations).entries.filter(
      ({ operation, review: each, isNamed }) => isNamed && !each.only && !each.target && !operation.target,
    );
    expect(unsought.map(({ operation }) => operation.id)).toEqual([]);
  });

  it('refuses two operations with the same name', () => {
    const twice = [declare('things.list', 'GET /things', list), declare('things.find', 'GET /found', list)];
    expect(() => new Catalogue(twice)).toThrow('things.list and things.find are both reviewed as things list');
  });

  it('refuses to inherit a review that does not exist', () => {
    const lost = declare('parts.list', 'GET /parts', { inherits: 'things.list' });
    expect(() => new Catalogue([lost])).toThrow('parts.list inherits the review of things.list, which has no review');
    const none = declare('things.list', 'GET /things', 'none');
    expect(() => new Catalogue([none, lost])).toThrow('which has no review');
    expect(new Catalogue([lost, declare('things.list', 'GET /things', list)]).entries).toHaveLength(1);
  });

  it('refuses a parameter that the path does not have', () => {
    const wrong: AccessReview = { ...list, parameter: 'other' };
    expect(() => new Catalogue([declare('things.get', 'GET /things/:id', wrong)])).toThrow('not in its path');
  });

  it('lets an operation inherit a review only from one with the same requirements', () => {
    const demand = (operation: Operation) => {
      const { review: _review, hidden: _hidden, ...rest } = operation.access as Access;
      return { ...rest, to: operation.accessTo?.toString() };
    };
    for (const operation of operations) {
      const { access } = operation;
      if (isPublic(access) || access.review === 'none' || !('inherits' in access.review)) continue;
      const { inherits } = access.review;
      const heir = operations.find(({ id }) => id === inherits);
      expect(heir && demand(heir), `${operation.id} inherits ${inherits}`).toEqual(demand(operation));
    }
  });
});

describe('a resource that exists only once', () => {
  const only: AccessReview = { resource: 'settings', verb: 'update', only: 'global' };
  const update = command({
    id: 'settings.update',
    route: 'PATCH /settings',
    summary: '',
    responses: { 204: z.undefined() },
    idempotency: 'none',
    audit: '',
    access: { ...settings, review: only },
    handle: async () => ({ id: null }),
  });

  it('is found only by its one name', async () => {
    const question = { resource: 'settings', verb: 'update' };
    expect(await ask([update], { ...question, name: 'global' })).toMatchObject({ allowed: true });
    expect(await ask([update], { ...question, name: 'local' })).toMatchObject({
      denied: true,
      reason: { code: 'resource_not_found_or_denied' },
    });
    await expect(ask([update], question)).rejects.toThrow('needs a name');
    const requester = { ...administrator, role: 'requester' as const };
    expect(await ask([update], { ...question, name: 'local' }, { principal: requester })).toMatchObject({
      reason: { code: 'permission_denied' },
    });
  });
});

describe('an access review', () => {
  const failing = (error: Error) =>
    read({
      id: 'things.get',
      route: 'GET /things/:id',
      summary: '',
      handle: async () => ({}),
      responses: { 200: z.object({}) },
      params: z.strictObject({ id: z.string() }),
      access: { ...settings, review: { resource: 'things', verb: 'get' } },
      target: () => Promise.reject(error),
    });
  const about = { resource: 'things', verb: 'get', name: 'a' };
  const withCode = (code: string | undefined, message = '') => Object.assign(new Error(message), { code });

  it.each([
    ['connections refused', withCode('ECONNREFUSED')],
    ['a connection that broke', new Error('Connection terminated unexpectedly')],
    ['a pool without a free connection', new Error('timeout exceeded when trying to connect')],
    ['a database that is full', withCode('53300')],
    ['a database that stops', withCode('57P01')],
    ['a statement that took too long', withCode('57014')],
    ['the same, wrapped', new Error('failed', { cause: withCode('57014') })],
  ])('is undecided for %s', async (_what, error) => {
    const { failures, ...verdict } = await ask([failing(error)], about);
    expect(verdict).toEqual({
      allowed: false,
      denied: false,
      evaluation_error: { code: 'resolver_unavailable', message: expect.any(String) },
    });
    expect(failures).toEqual([]);
  });

  it('logs an unexpected error and does not reveal it', async () => {
    const error = new TypeError('secret of the house');
    const { failures, ...verdict } = await ask([failing(error)], about);
    expect(verdict).toMatchObject({ allowed: false, denied: false, evaluation_error: { code: 'evaluation_failed' } });
    expect(JSON.stringify(verdict)).not.toContain('secret');
    expect(failures).toEqual([error]);
  });

  it.each(['system', 'background'] as const)(
    'is not supported for a %s principal, and looks nothing up',
    async (kind) => {
      const verdict = await ask([failing(new Error('looked'))], about, { principal: { ...administrator, kind } });
      expect(verdict).toMatchObject({ allowed: false, denied: true, reason: { code: 'principal_not_supported' } });
      expect(verdict.failures).toEqual([]);
    },
  );
});
