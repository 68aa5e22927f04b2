import { request as httpRequest } from 'node:http';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { Redactor } from '#domain/shared/redaction/redactor.ts';
import { StateKeeper } from '#executors/attempt/state-keeper.ts';
import { Relay } from '#executors/host/relay.ts';
import { StateBackend } from '#executors/opentofu/state/state-backend.ts';
import { TofuState } from '#executors/opentofu/state/tofu-state.ts';
import type { OpenTofuExecutor } from '#executors/protocol/request.ts';
import { makeRequest, makeWorkRoot, RecordingSink, requireTools, run, runSteps, shell } from '../support.ts';

const work = makeWorkRoot();
afterAll(work.remove);
const [tool] = await requireTools();
const executor: OpenTofuExecutor = {
  kind: 'opentofu',
  files: { 'main.tf': 'resource "terraform_data" "x" {\n  input = 1\n}\n' },
};

class RefusingSink extends RecordingSink {
  override async state(): Promise<void> {
    throw new Error('superseded');
  }
}

describe('the state of an attempt', () => {
  it('fails the attempt if it cannot be saved', async () => {
    const planned = await run(makeRequest({ workRoot: work.path, executor, phase: 'plan' }));
    const artifact = planned.result.plan?.artifact ?? null;
    const { result } = await run(
      makeRequest({ workRoot: work.path, executor, artifact, tool: planned.result.tool ?? null }),
      new RefusingSink(),
    );
    expect(result).toMatchObject({ outcome: 'failed', reason: 'state_not_saved' });
  });

  it('is saved before the tool continues', async () => {
    const order: string[] = [];
    const sink = new RecordingSink();
    sink.state = async () => {
      await new Promise((resolve) => setTimeout(resolve, 700));
      order.push('saved');
    };
    sink.log = async (chunk) => {
      if (chunk.content.toString().includes('Apply complete')) order.push('tool ended');
    };
    const planned = await run(makeRequest({ workRoot: work.path, executor, phase: 'plan' }));
    await run(
      makeRequest({
        workRoot: work.path,
        executor,
        artifact: planned.result.plan?.artifact ?? null,
        tool: planned.result.tool ?? null,
      }),
      sink,
    );
    expect(order).toEqual(['saved', 'tool ended']);
  });

  it('a state of a command template that cannot be saved fails the attempt in the same way', async () => {
    const command = { kind: 'command' as const, apply: [shell('echo \'{"a":1}\' > state.json')] };
    const planned = await run(makeRequest({ workRoot: work.path, executor: command, phase: 'plan' }));
    const { result } = await run(
      makeRequest({ workRoot: work.path, executor: command, artifact: planned.result.plan?.artifact ?? null }),
      new RefusingSink(),
    );
    expect(result).toMatchObject({ outcome: 'failed', reason: 'state_not_saved' });
  });

  it('a state of a command template is not saved again if it did not change', async () => {
    const { sink } = await runSteps(work.path, { apply: [shell('true')] }, { state: Buffer.from('{"a":1}') });
    expect(sink.states).toEqual([]);
  });

  it('must be readable before anything runs', async () => {
    const state = Buffer.from('not a state');
    const { result } = await run(
      makeRequest({ workRoot: work.path, executor, phase: 'plan', state, tool: tool ?? null }),
    );
    expect(result).toMatchObject({ outcome: 'failed', reason: 'state_invalid' });
  });
});

describe('the HTTP backend of an attempt', () => {
  const open: Relay[] = [];
  afterEach(() => {
    for (const relay of open.splice(0)) relay.close();
  });

  async function start(initial: object | null, isReadOnly = false) {
    const saved: string[] = [];
    const keeper = new StateKeeper({
      initial: initial && Buffer.from(JSON.stringify(initial)),
      save: async (content) => saved.push(content.toString()) > 0,
    });
    const state = new TofuState(keeper, { redactor: new Redactor(), declared: {} });
    state.open();
    const backend = new StateBackend(state, { isReadOnly });
    const relay = await Relay.open({ socketPath: null, state: backend, proxy: null });
    open.push(relay);
    const variables = backend.environment(relay.origin);
    const password = variables['TF_HTTP_PASSWORD'] ?? '';
    const call = (method: string, path: string, body?: object | string, auth = `attempt:${password}`) =>
      send(
        `${new URL(variables['TF_HTTP_ADDRESS'] ?? '').origin}${path}`,
        method,
        typeof body === 'object' ? JSON.stringify(body) : body,
        auth,
      );
    return { call, saved, keeper };
  }

  it('answers 401 without its password', async () => {
    const { call } = await start({ serial: 1, lineage: 'a' });
    for (const auth of ['attempt:wrong', ':', 'attempt'])
      expect(await call('GET', '/state', undefined, auth)).toMatchObject({ status: 401, body: '' });
    expect(await call('GET', '/state')).toMatchObject({ status: 200 });
  });

  it('accepts a state only under the lock, with the same lineage and a higher serial', async () => {
    const { call, saved, keeper } = await start({ serial: 4, lineage: 'a' });
    expect(await call('POST', '/state', { serial: 5, lineage: 'a' })).toMatchObject({ status: 409 });
    expect(await call('LOCK', '/lock', { ID: 'one' })).toMatchObject({ status: 200 });
    expect(await call('LOCK', '/lock', { ID: 'two' })).toMatchObject({ status: 423, body: '{"ID":"one"}' });
    expect(await call('POST', '/state?ID=two', { serial: 5, lineage: 'a' })).toMatchObject({ status: 409 });
    expect(await call('POST', '/state?ID=one', { serial: 5, lineage: 'a' })).toMatchObject({ status: 200 });
    expect(await call('POST', '/state?ID=one', { serial: 5, lineage: 'a' })).toMatchObject({ status: 200 });
    expect(saved).toEqual(['{"serial":5,"lineage":"a"}']);
    expect(keeper.failure).toBeNull();
    expect(await call('POST', '/state?ID=one', { serial: 5, lineage: 'a', x: 1 })).toMatchObject({ status: 409 });
    expect(await call('POST', '/state?ID=one', { serial: 4, lineage: 'a' })).toMatchObject({ status: 409 });
    expect(await call('POST', '/state?ID=one', { serial: 9, lineage: 'b' })).toMatchObject({ status: 409 });
    expect(await call('POST', '/state?ID=one', 'garbage')).toMatchObject({ status: 500 });
    expect(await call('UNLOCK', '/lock', { ID: 'two' })).toMatchObject({ status: 409 });
    expect(await call('UNLOCK', '/lock', { ID: 'one' })).toMatchObject({ status: 200 });
    expect(saved).toHaveLength(1);
  });

  it('refuses writes of a plan, and deletes of anyone', async () => {
    const { call, saved } = await start(null, true);
    expect(await call('GET', '/state')).toMatchObject({ status: 404 });
    await call('LOCK', '/lock', { ID: 'one' });
    expect(await call('POST', '/state?ID=one', { serial: 1, lineage: 'a' })).toMatchObject({ status: 403 });
    expect(await call('DELETE', '/state')).toMatchObject({ status: 405 });
    expect(saved).toEqual([]);
  });
});

/** Sends one request on a connection of its own. */
function send(
  url: string,
  method: string,
  body: string | undefined,
  auth: string,
): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method, auth, agent: false }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(pieces).toString() }));
    });
    request.on('error', reject);
    request.end(body);
  });
}
