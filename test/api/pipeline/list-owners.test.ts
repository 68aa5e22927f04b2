import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '#api/operations.ts';
import { type Operation, routeOf } from '#api/pipeline/operation.ts';
import { type OwnerLevel, ownerLevels } from '#domain/shared/ownership-graph/owners.ts';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';

/** The lists that can be filtered by owners, as the operations declare them. */
const lists = operations.flatMap((operation) =>
  operation.kind === 'read' && operation.owners ? [{ operation, owners: operation.owners }] : [],
);
const cases = lists.map(({ operation, owners }) => [operation.id, operation, owners] as const);
type Owners = (typeof lists)[number]['owners'];

/** The ids of one tenant's owners at every level. */
type Place = Record<OwnerLevel, string> & { readonly owner: ApiUser };

let api: TestApi;
let admin: ApiUser;
let here: Place;
let there: Place;
/** A second environment of the first tenant, in the same project. */
let sibling: string;
beforeAll(async () => {
  api = await startApi();
  admin = await api.addUser('admin');
  [here, there] = [await makePlace(), await makePlace()];
  const second = { project_id: here.project, name: 'Second', kind: 'development' };
  sibling = (await here.owner.make('/environments', second)).id;
});
afterAll(() => api?.close());

async function makePlace(): Promise<Place> {
  const tenant: Tenant = await makeTenant(api);
  const { owner, team, environment } = tenant;
  const { id: template } = await owner.make('/registry/templates', { name: 'Network', team_id: team });
  const spec = { executor: { kind: 'command', apply: [{ name: 'go', run: ['true'] }] } };
  await owner.make(`/registry/templates/${template}/versions`, { version: '1.0.0', spec });
  const instance = await owner.make('/instances', { template_id: template, environment_id: environment, name: 'main' });
  return { ...tenant, instance: instance.id };
}

const levelsOf = (owners: Owners) => ownerLevels.filter((level) => owners[level] !== undefined);
const pairsOf = (owners: Owners) =>
  levelsOf(owners).flatMap((one, index) =>
    levelsOf(owners)
      .slice(index + 1)
      .map((other) => [one, other] as const),
  );

async function ask(reader: ApiUser, operation: Operation, owners: Owners, ids: Partial<Record<OwnerLevel, string>>) {
  const given = Object.fromEntries(Object.entries(ids).map(([level, id]) => [owners[level as OwnerLevel], id]));
  const path = routeOf(operation).path.replace('/api/v1', '');
  const { status, headers, body } = await reader.get(`${path}?${new URLSearchParams(given)}`);
  return { status, code: headers['x-error-code'], error: status < 400 ? null : body.error };
}

describe('a list that is filtered by owners', () => {
  it('is declared with `owners` if a parameter names an organization, team, project, environment or instance', () => {
    const named = new Set(lists.map(({ operation }) => operation.id));
    const undeclared = operations.filter(({ id, kind, query, route }) => {
      const names = Object.keys(Object(query).shape ?? {});
      // What its path names has been decided about already.
      const isNested = route.includes('/:');
      return (
        kind === 'read' &&
        route.startsWith('GET ') &&
        !isNested &&
        !named.has(id) &&
        names.some((name) => isOwner(name))
      );
    });
    expect(undeclared.map(({ id }) => id)).toEqual([]);
  });

  it.each(cases)(
    '%s returns what the caller may read of each owner, and of all together',
    async (_id, operation, owners) => {
      for (const level of levelsOf(owners))
        expect(await ask(here.owner, operation, owners, { [level]: here[level] }), level).toMatchObject({
          status: 200,
        });
      const all = Object.fromEntries(levelsOf(owners).map((level) => [level, here[level]]));
      for (const reader of [here.owner, admin])
        expect(await ask(reader, operation, owners, all)).toMatchObject({ status: 200 });
    },
  );

  it.each(cases)('%s answers 400 to an owner that is not an id', async (_id, operation, owners) => {
    for (const level of levelsOf(owners)) {
      const answer = await ask(admin, operation, owners, { [level]: 'no-id' });
      expect(answer, level).toMatchObject({ status: 400, code: 'invalid_request' });
      expect(answer.error).toContain(owners[level]);
    }
  });

  it.each(cases)('%s answers 404 to a hidden owner, as to a missing one', async (_id, operation, owners) => {
    for (const level of levelsOf(owners)) {
      const missing = await ask(here.owner, operation, owners, { [level]: randomUUID() });
      expect(missing, level).toMatchObject({ status: 404, code: 'not_found' });
      expect(await ask(admin, operation, owners, { [level]: randomUUID() }), level).toEqual(missing);
      expect(await ask(here.owner, operation, owners, { [level]: there[level] }), level).toEqual(missing);
    }
  });

  it.each(cases)(
    '%s answers 400 to owners that contradict each other, if the caller may read both',
    async (_id, operation, owners) => {
      for (const [one, other] of pairsOf(owners)) {
        for (const ids of [
          { [one]: here[one], [other]: there[other] },
          { [one]: there[one], [other]: here[other] },
        ]) {
          const answer = await ask(admin, operation, owners, ids);
          expect(answer, `${one} ${other}`).toMatchObject({ status: 400, code: 'filters_contradict' });
          expect(answer.error).toMatch(new RegExp(`^${owners[one]}, ${owners[other]}: .* leave one of them out$`));
        }
      }
    },
  );

  it.each(cases)(
    '%s answers 404 to owners that contradict each other, if one is hidden',
    async (_id, operation, owners) => {
      for (const [one, other] of pairsOf(owners)) {
        const missing = await ask(here.owner, operation, owners, { [one]: here[one], [other]: randomUUID() });
        expect(missing, `${one} ${other}`).toMatchObject({ status: 404, code: 'not_found' });
        for (const ids of [
          { [one]: here[one], [other]: there[other] },
          { [one]: there[one], [other]: here[other] },
        ])
          expect(await ask(here.owner, operation, owners, ids), `${one} ${other}`).toEqual(missing);
      }
    },
  );

  it('answers 400 to an instance and another environment of the same project', async () => {
    for (const { operation, owners } of lists.filter((list) => list.owners.instance && list.owners.environment)) {
      const ids = { environment: sibling, instance: here.instance };
      expect(await ask(here.owner, operation, owners, ids)).toMatchObject({ status: 400, code: 'filters_contradict' });
    }
  });
});

function isOwner(parameter: string): boolean {
  return ownerLevels.some((level) => parameter === `${level}_id` || parameter.endsWith(`_${level}_id`));
}
