import { expect } from 'vitest';
import type { Caller } from './api/caller.ts';
import { readUntil } from './read-until.ts';
import { type System, startSystem } from './system.ts';
import { publish } from './templates.ts';

/** A team with an environment on a running system, for tests that run assemblies. */
export interface AssemblyStage {
  readonly system: System;
  readonly caller: Caller;
  /** The path of the team. */
  readonly team: string;
  readonly organization: string;
  readonly teamId: string;
  readonly environmentId: string;
}

export async function openAssemblyStage(overrides: Record<string, string> = {}): Promise<AssemblyStage> {
  const system = await startSystem(overrides);
  const caller = system.administrator;
  return { system, caller, ...(await makePlace(caller, 'Acme')) };
}

/** Makes an organization with a team, a project and an environment in which nothing waits for approval. */
export async function makePlace(caller: Caller, name: string): Promise<Omit<AssemblyStage, 'system' | 'caller'>> {
  const organization = `/organizations/${await make(caller, '/organizations', { name })}`;
  const teamId = await make(caller, `${organization}/teams`, { name: 'Platform' });
  const project = await make(caller, '/projects', { name: 'Shop', team_id: teamId });
  const environmentId = await make(caller, '/environments', {
    name: 'Test',
    kind: 'development',
    project_id: project,
    approval_policy: { required: 0, when: 'never' },
  });
  return { organization, team: `${organization}/teams/${teamId}`, teamId, environmentId };
}

async function make(caller: Caller, path: string, body: object): Promise<string> {
  const answer = await caller.post(path, body);
  expect(answer.status, answer.text).toBe(201);
  return answer.body.id;
}

/** The variables of `echo`. Each takes any value. */
const names = ['cidr', 'key', 'mark', 'name', 'of', 'size', 'token'];

/** The spec of a template whose outputs are its variables and a secret, after a script. */
export function echo(script = 'true', rest: object = {}) {
  const print = `printf '{"all": %s, "secret": "s3cret-%s"}' "$(cat variables.json)" "$$" > outputs.json`;
  return {
    variables: { type: 'object', properties: Object.fromEntries(names.map((name) => [name, {}])) },
    outputs: { all: {}, secret: { sensitive: true } },
    executor: {
      kind: 'command',
      apply: [{ name: 'echo', run: ['sh', '-c', `${script} && ${print}`] }],
      destroy: [{ name: 'destroy', run: ['sh', '-c', 'echo "{}" > outputs.json'] }],
    },
    ...rest,
  };
}

/** Publishes a template of the stage's team. */
export function addTemplate({ caller, teamId }: AssemblyStage, slug: string, spec: object): Promise<string> {
  return publish(caller, slug, spec, teamId);
}

/** Publishes version 1.0.0 of a new assembly. Returns its path. */
export async function addAssembly(
  { caller, teamId }: Pick<AssemblyStage, 'caller' | 'teamId'>,
  name: string,
  spec: object,
): Promise<string> {
  const path = `/assemblies/${await make(caller, '/assemblies', { name, team_id: teamId })}`;
  await publishSpec(caller, path, '1.0.0', spec);
  return path;
}

export async function publishSpec(caller: Caller, path: string, version: string, spec: object): Promise<void> {
  const saved = await caller.send('PUT', `${path}/draft`, { spec });
  expect(saved.status, saved.text).toBe(200);
  const published = await caller.post(`${path}/publish`, { version });
  expect(published.status, published.text).toBe(201);
}

/** Starts a run of an assembly. Returns its path and its id. */
export async function startRun(
  { caller, environmentId }: AssemblyStage,
  assembly: string,
  request: object = {},
): Promise<{ path: string; id: string }> {
  const answer = await caller.post(`${assembly}/runs`, { environment_id: environmentId, ...request });
  expect(answer.status, answer.text).toBe(202);
  return { path: `${assembly}/runs/${answer.body.id}`, id: answer.body.id };
}

export const ended = ['succeeded', 'failed', 'canceled', 'timed_out'];

/** Waits until an assembly run has one of the statuses. @throws with its nodes if that takes too long */
export function awaitAssemblyRun(caller: Caller, path: string, statuses = ended, withinMs = 100_000) {
  return awaitStatus(caller, { path, run: path, statuses, withinMs });
}

/** Waits until a node has one of the statuses. */
export function awaitNode(caller: Caller, run: string, key: string, statuses: string[]) {
  return awaitStatus(caller, { path: `${run}/nodes/${key}`, run, statuses, withinMs: 100_000 });
}

async function awaitStatus(
  caller: Caller,
  { path, run, statuses, withinMs }: { path: string; run: string; statuses: string[]; withinMs: number },
) {
  const { body, text } = await readUntil(
    () => caller.get(path),
    (answer) => statuses.includes(answer.body?.status),
    withinMs,
  );
  if (statuses.includes(body?.status)) return body;
  const nodes = await caller.get(`${run}/nodes?limit=200`);
  throw new Error(`${path} is ${text} after ${withinMs} ms; its nodes are ${nodes.text}`);
}

/** The nodes of an assembly run by their keys. */
// biome-ignore lint/suspicious/noExplicitAny: tests inspect any body
export async function readNodes(caller: Caller, path: string): Promise<Record<string, any>> {
  const { body } = await caller.get(`${path}/nodes?limit=200`);
  return Object.fromEntries(body.nodes.map((node: { key: string }) => [node.key, node]));
}

/** The types of the events of an assembly run, with the node of each. */
export async function readStory(caller: Caller, path: string): Promise<string[]> {
  const { body } = await caller.get(`${path}/events?limit=200`);
  return body.events
    .map(({ type, data }: { type: string; data: { node?: string } }) =>
      [type.replace('assembly_run.', ''), data.node].filter(Boolean).join(' '),
    )
    .filter((event: string) => !event.startsWith('node_status_changed'));
}
