import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import { sendForm } from './deploy-form-page.ts';

/** Secrets that a form for a run contains in encrypted form and that cannot be decrypted any more. */

let api: TestApi;
let tenant: Tenant;
let visitor: Awaited<ReturnType<typeof signInVisitor>>;
let path: string;
beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
  visitor = await signInVisitor(api, tenant.owner);
  const { id } = await tenant.owner.make('/registry/templates', { name: 'Secretive', team_id: tenant.team });
  const properties = { size: { type: 'integer' }, token: { type: 'string', writeOnly: true } };
  const executor = { kind: 'command', apply: [{ name: 'go', run: ['true'] }] };
  for (const version of ['1.0.0', '2.0.0'])
    await tenant.owner.make(`/registry/templates/${id}/versions`, {
      version,
      spec: { variables: { type: 'object', properties }, executor },
    });
  path = `/catalog/${id}/run`;
});
afterAll(() => api?.close());

const send = (fields: Record<string, string>) =>
  sendForm(visitor, path, { shown: '2.0.0', version: '', environment_id: tenant.environment, ...fields });

test.each([
  ['the form is sent', {}, null],
  ['a button inside the form is pressed', { do: 'show:0@' }, null],
  ['no such environment can be chosen', { environment_id: randomUUID() }, 'you may not have access to it'],
  ['a button is pressed, and there is no such version', { do: 'show:0@', version: '9.9.9' }, 'has no such version'],
  ['another version was chosen', { version: '1.0.0' }, 'The fields now belong to version 1.0.0.'],
  ['no environment was chosen', { environment_id: '' }, 'Choose an environment, or none.'],
])('a form says that secrets must be entered again when %s', async (_situation, fields, other) => {
  const refused = await send({ 'v/size': 'wrong', 'v/token': 'typed-token' });
  const carried = /name="carried" value="([^"]+)"/.exec(refused.text)?.[1] ?? '';
  expect(carried).not.toBe('');
  const { status, text } = await send({ 'v/size': '1', carried, ...fields });
  expect(status).toBeGreaterThanOrEqual(400);
  expect(text).toContain('Enter them again, then submit the form again.');
  if (other !== null) expect(text).toContain(other);
});
