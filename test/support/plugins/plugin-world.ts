import { createHash, randomUUID } from 'node:crypto';
import { zeroId } from '#domain/shared/ids.ts';

/** A client of the API, in process or over HTTP. */
export interface PluginClient {
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<PluginAnswer>;
}

// biome-ignore lint/suspicious/noExplicitAny: tests inspect any body
export type PluginAnswer = { status: number; body: any; text: string; headers: unknown };

/** The manifest of a plugin that manages DNS zones. */
export function manifestOf(release: string, changes: object = {}) {
  return {
    name: 'dns',
    release,
    actions: [
      {
        name: 'zone.sync',
        selectors: ['resource', 'project', 'environment', 'team', 'organization', 'organization_descendants'],
        effects: ['dns.write'],
      },
      { name: 'zone.read', selectors: ['team', 'resource'], effects: [] },
    ],
    executions: [{ name: 'nightly', action: 'zone.sync' }],
    resources: [{ type: 'zone', roots: [] }],
    ...changes,
  };
}

export function encode(manifest: unknown): { manifest: string; digest: string } {
  const bytes = Buffer.from(JSON.stringify(manifest, null, 2));
  return { manifest: bytes.toString('base64'), digest: `sha256:${createHash('sha256').update(bytes).digest('hex')}` };
}

/** The owners of something, with zero for those that it does not have. */
export const noOwnership = {
  organization_id: zeroId,
  team_id: zeroId,
  project_id: zeroId,
  environment_id: zeroId,
  team_revision: 0,
  project_revision: 0,
  environment_revision: 0,
};

/** Sends a plugin command under a key, a new one unless given. */
export function sendCommand(
  client: PluginClient,
  [method, path]: readonly [string, string],
  body: unknown,
  key: string = randomUUID(),
): Promise<PluginAnswer> {
  return client.send(method, path, body, { 'idempotency-key': key });
}

async function expectStatus(answering: Promise<PluginAnswer>, status: number): Promise<PluginAnswer> {
  const answer = await answering;
  if (answer.status !== status) throw new Error(`answered ${answer.status} instead of ${status}: ${answer.text}`);
  return answer;
}

/** Administers plugins with one client, naming what the service says now. */
export class PluginAdministrator {
  readonly client: PluginClient;

  constructor(client: PluginClient) {
    this.client = client;
  }

  /** Sends a command under a new key. */
  command(route: readonly [string, string], body?: unknown): Promise<PluginAnswer> {
    return sendCommand(this.client, route, body);
  }

  async read(path: string) {
    return (await expectStatus(this.client.send('GET', path), 200)).body;
  }

  /** What a command on an installation or a resource has to name. */
  async stateOf(path: string) {
    const { revision, ownership } = await this.read(path);
    return { expected_revision: revision, expected_ownership: ownership };
  }

  async install(owner: { organization_id: string } | { team_id: string }, ownership: object, name = 'dns') {
    const body = { name, ...owner, expected_ownership: { ...noOwnership, ...ownership } };
    return (await expectStatus(sendCommand(this.client, ['POST', '/plugin-installations'], body), 201)).body.id;
  }

  /** Removes a plugin, naming what the service says now. */
  async remove(installation: string): Promise<PluginAnswer> {
    const path = `/plugin-installations/${installation}`;
    return sendCommand(this.client, ['DELETE', path], await this.stateOf(path));
  }

  async stage(installation: string, manifest: { release: string }) {
    const path = `/plugin-installations/${installation}`;
    const body = { release: manifest.release, ...encode(manifest), ...(await this.stateOf(path)) };
    return (await expectStatus(sendCommand(this.client, ['POST', `${path}/manifests`], body), 200)).body;
  }

  async activate(installation: string, release: string) {
    const path = `/plugin-installations/${installation}`;
    const body = { release, ...(await this.stateOf(path)) };
    return (await expectStatus(sendCommand(this.client, ['POST', `${path}/activate`], body), 200)).body;
  }

  async approve(installation: string, actions: readonly string[], executions: readonly object[] = []) {
    return (await expectStatus(this.replaceCeiling(installation, { actions, executions }), 200)).body;
  }

  /** Replaces a ceiling, naming what the service says now. */
  async replaceCeiling(installation: string, body: object): Promise<PluginAnswer> {
    const path = `/plugin-installations/${installation}`;
    const { revision: expected_ceiling_revision } = await this.read(`${path}/ceiling`);
    const state = { expected_ceiling_revision, ...(await this.stateOf(path)) };
    return sendCommand(this.client, ['PUT', `${path}/ceiling`], { ...state, ...body });
  }

  async actionId(installation: string, name: string): Promise<string> {
    const { actions } = await this.read(`/plugin-actions?installation_id=${installation}`);
    return actions.find((each: { name: string }) => each.name === name).id;
  }

  /** The body of an assignment, as the review says. */
  async assignmentOf(action: string, subject: object, selector: object) {
    const path = `/plugin-actions/${action}/grant-review`;
    const { body } = await expectStatus(this.client.send('POST', path, { selector }), 200);
    return {
      action_id: action,
      subject,
      selector,
      expected_installation_revision: body.installation_revision,
      expected_action_revision: body.action_revision,
      expected_ownership: body.ownership,
    };
  }

  async assign(action: string, subject: object, selector: object): Promise<string> {
    const body = await this.assignmentOf(action, subject, selector);
    return (await expectStatus(sendCommand(this.client, ['POST', '/plugin-action-grants'], body), 201)).body.id;
  }

  async revoke(grant: string, ownership: object) {
    const body = { expected_revision: 1, expected_ownership: ownership };
    return expectStatus(sendCommand(this.client, ['DELETE', `/plugin-action-grants/${grant}`], body), 200);
  }

  /** Approves a background principal at a place. */
  async approveBackground(installation: string, action: string, selector: object, name = 'Nightly'): Promise<string> {
    const { expected_installation_revision, expected_ownership } = await this.assignmentOf(action, {}, selector);
    const body = { installation_id: installation, name, selector, expected_installation_revision, expected_ownership };
    return (await expectStatus(sendCommand(this.client, ['POST', '/plugin-background-principals'], body), 201)).body.id;
  }

  async createResource(installation: string, owner: object, ownership: object, key = 'zone-1'): Promise<string> {
    const body = {
      installation_id: installation,
      type: 'zone',
      name: key,
      key,
      ...owner,
      expected_ownership: ownership,
    };
    return (await expectStatus(sendCommand(this.client, ['POST', '/plugin-resources'], body), 201)).body.id;
  }

  async deleteResource(id: string) {
    const path = `/plugin-resources/${id}`;
    return expectStatus(sendCommand(this.client, ['DELETE', path], await this.stateOf(path)), 200);
  }

  async restore(id: string, key: string = randomUUID()): Promise<PluginAnswer> {
    const path = `/plugin-resources/${id}`;
    return sendCommand(this.client, ['POST', `${path}/restore`], await this.stateOf(path), key);
  }
}

/** Asks whether a client may use an action at a place. */
export async function check(client: PluginClient, action: string, selector: object) {
  return (await expectStatus(client.send('POST', `/plugin-actions/${action}/check`, { selector }), 200)).body;
}
