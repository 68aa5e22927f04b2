import { randomUUID } from 'node:crypto';
import { Caller } from '#test/support/api/caller.ts';
import { Client } from './client.ts';
import type { Installation } from './installation.ts';

/** Where assemblies run. */
export interface Place {
  readonly organizationId: string;
  readonly teamId: string;
  readonly projectId: string;
  readonly environmentId: string;
}

export async function makePlace({ requester }: Installation): Promise<Place> {
  const name = `Place ${randomUUID().slice(0, 8)}`;
  const { id: organizationId } = await requester.call('POST', '/organizations', { name });
  const { id: teamId } = await requester.call('POST', `/organizations/${organizationId}/teams`, { name });
  const { id: projectId } = await requester.call('POST', '/projects', { name, team_id: teamId });
  const { id: environmentId } = await requester.call('POST', '/environments', {
    name,
    kind: 'development',
    project_id: projectId,
  });
  return { organizationId, teamId, projectId, environmentId };
}

/** A template whose apply takes a moment, and may be repeated. */
export async function publishTemplate({ requester }: Installation, { teamId }: Place) {
  const slug = `grid-${randomUUID()}`;
  const { id } = await requester.call('POST', '/registry/templates', { name: slug, slug, team_id: teamId });
  const print = 'sleep 0.2; printf \'{"mark": "%s"}\' "$COORDINATOR_VAR_MARK" > outputs.json';
  const spec = {
    variables: { type: 'object', properties: { mark: { type: 'string' }, of: { type: 'array' } } },
    outputs: { mark: {} },
    retry_safe: true,
    executor: { kind: 'command', apply: [{ name: 'act', run: ['sh', '-c', print] }] },
  };
  await requester.call('POST', `/registry/templates/${id}/versions`, { version: '1.0.0', spec });
  return { id: String(id), slug };
}

/** Creates an assembly and publishes its version 1.0.0. Returns its id. */
export async function publishAssembly({ requester }: Installation, { teamId }: Place, spec: object): Promise<string> {
  const name = `Assembly ${randomUUID()}`;
  const { id } = await requester.call('POST', '/assemblies', { team_id: teamId, name });
  await requester.call('PUT', `/assemblies/${id}/draft`, { spec });
  await requester.call('POST', `/assemblies/${id}/publish`, { version: '1.0.0' });
  return String(id);
}

/** A grid: each node refers to outputs of the one above it and of the one to its left. */
export function gridOf(template: string, rows: number, columns: number) {
  const prefix = randomUUID().slice(0, 8);
  const keyOf = (row: number, column: number) => `r${row}c${column}`;
  const nodes: Record<string, object> = {};
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      const key = keyOf(row, column);
      const before = [row > 0 && keyOf(row - 1, column), column > 0 && keyOf(row, column - 1)].filter(Boolean);
      const of = before.map((other) => `\${nodes.${other}.outputs.mark}`);
      nodes[key] = { template, instance: `${prefix}-${key}`, variables: { mark: key, of } };
    }
  }
  return { nodes, concurrency: 20 };
}

/** A chain: each node refers to the output of the one before it. */
export function chainOf(template: string, length: number) {
  return gridOf(template, length, 1);
}

/** A fan: all nodes but the first refer to its output. */
export function fanOf(template: string, size: number) {
  const { nodes, concurrency } = gridOf(template, size, 1);
  const [first = '', ...others] = Object.keys(nodes);
  const of = [`\${nodes.${first}.outputs.mark}`];
  const fan = others.map((key) => [key, { ...nodes[key], variables: { mark: key, of } }] as const);
  return { nodes: { [first]: nodes[first], ...Object.fromEntries(fan) }, concurrency };
}

/** A user who may run the assemblies of a team, and how the membership is removed. */
export async function addMember({ requester, urls, violations }: Installation, { organizationId, teamId }: Place) {
  const password = 'correct horse battery';
  const email = `member-${randomUUID()}@example.com`;
  const user = { email, name: 'Member', password, role: 'maintainer' };
  const { id } = await requester.call('POST', '/users', user);
  const members = `/organizations/${organizationId}/members`;
  await requester.call('PUT', `${members}/${id}`, { role: 'member' });
  const team = `/organizations/${organizationId}/teams/${teamId}/members`;
  await requester.call('PUT', `${team}/${id}`, { role: 'admin' });
  const caller = await Caller.signIn(urls[0] ?? '', email, password);
  const { body } = await caller.post('/profile/api-keys', { name: 'faults' });
  const member = new Client(urls, body.key, (what) => violations.push(what));
  return { member, leave: () => requester.call('DELETE', `${team}/${id}`) };
}
