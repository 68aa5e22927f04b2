import { afterAll, beforeAll, expect, it } from 'vitest';
import { ReplaceAttachments } from '#api/variable-sets/bodies.ts';
import { newId } from '#domain/shared/ids.ts';
import { maxAttachments } from '#domain/variable-sets/attach.ts';
import { maxVariables } from '#domain/variables/model.ts';
import { makeTenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { docsText } from '#test/support/stated-in-docs.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

const variables = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ name: `V${index}`, value: 'yes', category: 'env' }));

it('a set has at most 500 variables, whether they are replaced or added', async () => {
  const { owner, team } = await makeTenant(api);
  const { id } = await owner.make('/variable-sets', { name: 'aws-common', team_id: team });
  const path = `/variable-sets/${id}/variables`;
  expect((await owner.put(path, { variables: variables(501) })).status).toBe(400);
  expect((await owner.put(path, { variables: variables(500) })).status).toBe(200);
  const added = await owner.put(`${path}/MORE`, { value: 'yes', category: 'env' });
  expect(added.status).toBe(409);
  expect(added.body.error).toContain('at most 500 variables');
  expect((await owner.put(`${path}/V0`, { value: 'no', category: 'env' })).status).toBe(200);
});

it.each(['project_ids', 'environment_ids'])('a set is attached to at most 500 %s', (member) => {
  const isTaken = (count: number) => {
    const ids = Array.from({ length: count }, newId);
    return ReplaceAttachments.safeParse({ project_ids: [], environment_ids: [], [member]: ids }).success;
  };
  expect([500, 501].map(isTaken)).toEqual([true, false]);
});

it('the page about variable sets says both limits', () => {
  expect(docsText('variable-sets')).toContain(
    `A set has at most ${maxVariables} variables, and is attached to at most ${maxAttachments} projects and ${maxAttachments} environments.`,
  );
});
