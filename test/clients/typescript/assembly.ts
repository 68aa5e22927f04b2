import { setTimeout as sleep } from 'node:timers/promises';
import type { components } from './api.d.ts';
import { answered, signIn, signInAsAdministrator } from './session.ts';

/** An assembly from its draft to the approval of a node and the end of its run, by the generated client. */
type Node = components['schemas']['AssemblyNode'];
type AssemblyRun = components['schemas']['AssemblyRun'];

async function awaitStatus<Found extends Node | AssemblyRun>(
  read: () => Promise<Found>,
  status: Found['status'],
): Promise<Found> {
  for (let attempts = 0; attempts < 300; attempts += 1) {
    const found = await read();
    if (found.status === status) return found;
    await sleep(100);
  }
  throw new Error(`nothing came to ${status}`);
}

/** These operations answer a drawing as well, to clients that ask for one. */
function asJson<Answer>(answer: Answer | string): Answer {
  if (typeof answer === 'string') throw new Error(`JSON was expected instead of ${answer}`);
  return answer;
}

const admin = await signInAsAdministrator();
const template = await answered(admin.POST('/api/v1/registry/templates', { body: { name: 'Part', slug: 'part' } }));
const spec = { executor: { kind: 'command' as const, apply: [{ name: 'say', run: ['true'] }] } };
await answered(
  admin.POST('/api/v1/registry/templates/{id}/versions', {
    params: { path: { id: template.id } },
    body: { version: '1.0.0', spec },
  }),
);
const { id: orgID } = await answered(admin.POST('/api/v1/organizations', { body: { name: 'Acme' } }));
const team = await answered(
  admin.POST('/api/v1/organizations/{orgID}/teams', { params: { path: { orgID } }, body: { name: 'Platform' } }),
);
const project = await answered(admin.POST('/api/v1/projects', { body: { team_id: team.id, name: 'Shop' } }));
const environment = await answered(
  admin.POST('/api/v1/environments', { body: { project_id: project.id, name: 'Test', kind: 'development' } }),
);

const { id } = await answered(admin.POST('/api/v1/assemblies', { body: { team_id: team.id, name: 'Landscape' } }));
const params = { path: { id } };
const draft = {
  nodes: {
    first: { template: 'part', approval: { required: 1 } },
    second: { template: 'part', depends_on: ['first'] },
  },
};
await answered(admin.PUT('/api/v1/assemblies/{id}/draft', { params, body: { spec: draft, expected_revision: 0 } }));
const report = await answered(admin.POST('/api/v1/assemblies/{id}/validate', { params }));
await answered(admin.POST('/api/v1/assemblies/{id}/publish', { params, body: { version: '1.0.0' } }));
const compared = await answered(
  admin.GET('/api/v1/assemblies/{id}/diff', { params: { ...params, query: { from: '1.0.0', to: 'draft' } } }),
);
const started = await answered(
  admin.POST('/api/v1/assemblies/{id}/runs', { params, body: { environment_id: environment.id } }),
);

const ofRun = { path: { id, runID: started.id } };
const ofNode = { path: { ...ofRun.path, key: 'first' } };
const readNode = () => answered(admin.GET('/api/v1/assemblies/{id}/runs/{runID}/nodes/{key}', { params: ofNode }));
const pending = await awaitStatus(readNode, 'pending_approval');
const reviewer = { email: 'cem@example.com', name: 'Cem', password: 'a second pair of eyes' };
await answered(admin.POST('/api/v1/users', { body: { ...reviewer, role: 'admin' } }));
const cem = await signIn(reviewer.email, reviewer.password);
await answered(
  cem.POST('/api/v1/assemblies/{id}/runs/{runID}/nodes/{key}/approve', {
    params: ofNode,
    body: { decision: 'approve', plan_digest: pending.plan?.digest ?? '' },
  }),
);
const run = await awaitStatus(
  () => answered(admin.GET('/api/v1/assemblies/{id}/runs/{runID}', { params: ofRun })),
  'succeeded',
);
const { events } = await answered(admin.GET('/api/v1/assemblies/{id}/runs/{runID}/events', { params: ofRun }));
const self = pending.actions.find(({ name }) => name === 'approve')?.allowed;
const { valid } = asJson(report);
console.log(
  JSON.stringify({ valid, changes: asJson(compared).nodes, self, nodes: run.nodes, last: events.at(-1)?.type }),
);
