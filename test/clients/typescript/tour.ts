import { setTimeout as sleep } from 'node:timers/promises';
import type { components } from './api.d.ts';
import { answered, type Client, signIn, signInAsAdministrator } from './session.ts';

/**
 * The README's tour by a client that `openapi-typescript` generates: a program of its own, which the test compiles strictly
 * and runs.
 */
type Run = components['schemas']['Run'];
async function awaitStatus(client: Client, id: string, status: Run['status']): Promise<Run> {
  for (let tries = 0; tries < 300; tries += 1) {
    const run = await answered(client.GET('/api/v1/runs/{id}', { params: { path: { id } } }));
    if (run.status === status) return run;
    await sleep(100);
  }
  throw new Error(`the run never came to ${status}`);
}

const admin = await signInAsAdministrator();
const template = await answered(admin.POST('/api/v1/registry/templates', { body: { name: 'Greeting by TypeScript' } }));
await answered(
  admin.POST('/api/v1/registry/templates/{id}/versions', {
    params: { path: { id: template.id } },
    body: {
      version: '1.0.0',
      spec: {
        variables: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
        approval: { required: 1, when: 'always' },
        executor: {
          kind: 'command',
          apply: [{ name: 'greet', run: ['sh', '-c', 'echo Hello, $COORDINATOR_VAR_NAME'] }],
        },
      },
    },
  }),
);
const admitted = await answered(
  admin.POST('/api/v1/runs', {
    body: { template_id: template.id, version: '^1.0', variables: { name: 'Ana' } },
  }),
);
await awaitStatus(admin, admitted.id, 'pending_approval');

const reviewer = { email: 'bea-typescript@example.com', name: 'Bea', password: 'a second pair of eyes' };
await answered(admin.POST('/api/v1/users', { body: { ...reviewer, role: 'maintainer' } }));
const bea = await signIn(reviewer.email, reviewer.password);
const path = { id: admitted.id };
const plan = await answered(bea.GET('/api/v1/runs/{id}/plan', { params: { path } }));
await answered(
  bea.POST('/api/v1/runs/{id}/approval/review', {
    params: { path },
    body: { decision: 'approve', plan_digest: plan.digest },
  }),
);
const run = await awaitStatus(admin, admitted.id, 'succeeded');
const log = await answered(
  admin.GET('/api/v1/runs/{id}/logs', { params: { path }, headers: { accept: 'text/plain' }, parseAs: 'text' }),
);
const { events } = await answered(admin.GET('/api/v1/runs/{id}/events', { params: { path } }));
console.log(JSON.stringify({ status: run.status, log, last: events.at(-1)?.type }));
