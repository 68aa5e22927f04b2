import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Duplex } from 'node:stream';
import { afterAll, describe, expect, it } from 'vitest';
import type { HostProcess } from '#executors/client/host-process.ts';
import { HostedAttempt } from '#executors/client/hosted-attempt.ts';
import { Channel } from '#executors/protocol/channel.ts';
import { encodeFrame } from '#executors/protocol/frames.ts';
import { HostMessage, WorkerMessage } from '#executors/protocol/messages.ts';
import type { WireRequest } from '#executors/protocol/request-schema.ts';
import { WireResult } from '#executors/protocol/result-schema.ts';
import { makeRequest, RecordingSink, shell } from '../support.ts';

const directory = mkdtempSync(join(tmpdir(), 'coordinator-test-protocol-'));
afterAll(() => rmSync(directory, { recursive: true }));

/** Two ends of a pipe in memory. */
function makePipe(): [Duplex, Duplex] {
  const ends: Duplex[] = [];
  const makeEnd = (other: () => Duplex | undefined) =>
    new Duplex({
      read: () => undefined,
      write: (piece, _encoding, done) => {
        other()?.push(piece);
        done();
      },
      destroy: (_error, done) => {
        const peer = other();
        if (peer && !peer.destroyed) peer.push(null);
        done(null);
      },
    });
  ends.push(makeEnd(() => ends[1]));
  ends.push(makeEnd(() => ends[0]));
  return [ends[0] as Duplex, ends[1] as Duplex];
}

const digest = `sha256:${'0'.repeat(64)}`;
const time = '2026-01-01T00:00:00.000Z';
const state = { type: 'state', attempt: 1, write: 1, serial: 1, lineage: 'a', resourceCount: 0 };
const log = {
  type: 'log',
  attempt: 1,
  sequence: 1,
  phase: 'apply',
  stream: 'stdout',
  time,
  firstLine: 0,
  lines: 1,
  checksum: digest,
};
const result = { outcome: 'succeeded', reason: null, message: null, exitCode: 0 };
const end = { type: 'result', attempt: 1, result, artifactBytes: null };

const span = { name: 'program', call: 'plan', startedAt: 1, endedAt: 2 };
const withSpan = (changes: object) => ({ ...end, result: { ...result, spans: [{ ...span, ...changes }] } });

/** Messages that a compromised host might send. */
const badHostMessages: [string, object][] = [
  ['a state whose number is a path', { ...state, write: '/../../../etc/cron.d/x' }],
  ['a state with a negative number', { ...state, write: -1 }],
  ['a state with a fractional number', { ...state, write: 1.5 }],
  ['a state with a huge number', { ...state, write: 1e300 }],
  ['a state without a number', { ...state, write: undefined }],
  ['a state whose serial is an object', { ...state, serial: { toString: 'x' } }],
  ['a state with a lineage of two megabytes', { ...state, lineage: 'x'.repeat(2 * 1024 * 1024) }],
  ['a log of an unknown phase', { ...log, phase: '../apply' }],
  ['a log of an unknown stream', { ...log, stream: '/dev/sda' }],
  ['a log numbered by a path', { ...log, sequence: '../1' }],
  ['a log with a negative count of lines', { ...log, lines: -5 }],
  ['a log with a checksum that is a path', { ...log, checksum: '../../x' }],
  ['a log with an invalid time', { ...log, time: 'now; drop table runs' }],
  ['a result with an unknown outcome', { ...end, result: { ...result, outcome: 'approved' } }],
  ['a result with an unknown reason', { ...end, result: { ...result, reason: 'because' } }],
  ['a result with sizes below zero', { ...end, artifactBytes: -1 }],
  ['a result with an exit code of 4000', { ...end, result: { ...result, exitCode: 4000 } }],
  ['a result with a span of an unknown name', withSpan({ name: 'secret' })],
  ['a result with a span whose call is a text of the template', withSpan({ call: 'x'.repeat(1000) })],
  ['a result with a span that starts at no number', withSpan({ startedAt: 'now' })],
  ['a log without an attempt', { ...log, attempt: undefined }],
  ['a message of an unknown type', { type: 'exec', attempt: 1 }],
  ['a list', [1, 2, 3]],
  ['null', null as unknown as object],
];

function fakeHost(pipe: Duplex) {
  let kills = 0;
  const seen: string[] = [];
  const host = {
    channel: null as unknown as Channel<WorkerMessage, HostMessage>,
    onMessage: (_: unknown) => undefined as unknown,
    kill: () => {
      kills++;
      pipe.destroy();
    },
    exited: Promise.resolve(null),
    takeDiagnostic: () => '',
  };
  host.channel = new Channel<WorkerMessage, HostMessage>(pipe, HostMessage, (frame) => {
    seen.push(frame.message.type);
    host.onMessage(frame);
  });
  return { host: host as unknown as HostProcess, seen, countKills: () => kills };
}

function wire(phase: WireRequest['phase'] = 'apply'): WireRequest {
  const executor = { kind: 'command' as const, apply: [{ ...shell('true'), timeoutMs: null }] };
  return { ...makeRequest({ workRoot: directory, executor, phase }), toolPath: null } as unknown as WireRequest;
}

async function receive(sent: Buffer, phase: WireRequest['phase'] = 'apply') {
  const [ours, theirs] = makePipe();
  const { host, seen, countKills } = fakeHost(ours);
  const sink = new RecordingSink();
  const attempt = new HostedAttempt(host, 1, phase, sink);
  host.onMessage = (frame) => attempt.receive(frame);
  const running = attempt.run(wire(phase), { state: null, artifact: null }, new AbortController().signal);
  theirs.write(sent);
  return { result: await running, sink, seen, kills: countKills(), isOpen: !ours.destroyed };
}

describe('a worker that receives from its host', () => {
  it.each(badHostMessages)('a worker that receives %s kills the host and stores nothing', async (_, message) => {
    const followed = Buffer.concat([
      encodeFrame(message ?? []),
      encodeFrame(state, Buffer.from('{}')),
      encodeFrame(end),
    ]);
    const sent = message === null ? Buffer.concat([nullFrame(), followed]) : followed;
    const { result: given, sink, seen, kills, isOpen } = await receive(sent);
    expect(given).toMatchObject({ outcome: 'failed', reason: 'executor_lost' });
    expect(seen).toEqual([]);
    expect([sink.states, sink.chunks]).toEqual([[], []]);
    expect(kills).toBeGreaterThan(0);
    expect(isOpen).toBe(false);
    expect(readdirSync(directory)).toEqual([]);
    expect(existsSync('/etc/cron.d/x')).toBe(false);
  });

  it.each([
    ['a frame that announces four gigabytes', Buffer.from('ffffffffffffffff', 'hex')],
    ['a frame that is not JSON', Buffer.concat([Buffer.from('0000000300000000', 'hex'), Buffer.from('{x}')])],
  ])('%s, kills the host', async (_, sent) => {
    const { result: given, kills } = await receive(sent);
    expect(given).toMatchObject({ outcome: 'failed', reason: 'executor_lost' });
    expect(kills).toBeGreaterThan(0);
  });

  it('valid messages, accepts them', async () => {
    const frames = [encodeFrame(log, Buffer.from('x\n')), encodeFrame(state, Buffer.from('{}')), encodeFrame(end)];
    const { result: given, sink } = await receive(Buffer.concat(frames));
    expect(given).toMatchObject({ outcome: 'succeeded' });
    expect([sink.states.length, sink.chunks.length]).toEqual([1, 1]);
  });

  it.each(['plan', 'detect'] as const)(
    'a state in the phase "%s", kills the host and stores nothing',
    async (phase) => {
      const {
        result: given,
        sink,
        kills,
      } = await receive(Buffer.concat([encodeFrame(state, Buffer.from('{}')), encodeFrame(end)]), phase);
      expect(sink.states).toEqual([]);
      expect(given).toMatchObject({ outcome: 'failed', reason: 'executor_lost' });
      expect(kills).toBeGreaterThan(0);
    },
  );

  it.each([
    [
      'a log of another phase than the running one',
      [encodeFrame({ ...log, phase: 'plan' }, Buffer.from('x')), encodeFrame(end)],
    ],
    ['a log twice', [encodeFrame(log, Buffer.from('x')), encodeFrame(log, Buffer.from('y')), encodeFrame(end)]],
    ['a state twice', [encodeFrame(state, Buffer.from('{}')), encodeFrame(state, Buffer.from('[]')), encodeFrame(end)]],
    ['a result that is shorter than announced', [encodeFrame({ ...end, artifactBytes: 100 }, Buffer.from('short'))]],
    ['a result that is longer than announced', [encodeFrame(end, Buffer.from('more than nothing'))]],
  ])('%s, kills the host', async (_, frames) => {
    const { result: given, kills } = await receive(Buffer.concat(frames));
    expect(given).toMatchObject({ outcome: 'failed', reason: 'executor_lost' });
    expect(kills).toBeGreaterThan(0);
  });
});

function nullFrame(): Buffer {
  return Buffer.concat([Buffer.from('0000000400000000', 'hex'), Buffer.from('null')]);
}

describe('a host that receives from its worker', () => {
  const execute = { type: 'execute', attempt: 1, request: wire(), stateBytes: null, artifactBytes: null };
  it.each([
    ['an attempt numbered by a path', { ...execute, attempt: '../1' }],
    ['an attempt with a negative number', { ...execute, attempt: -1 }],
    ['a request of an unknown phase', { ...execute, request: { ...wire(), phase: 'refresh' } }],
    ['a request with an unknown executor', { ...execute, request: { ...wire(), executor: { kind: 'shell' } } }],
    ['a request with no limits', { ...execute, request: { ...wire(), limits: undefined } }],
    [
      'a request with a negative memory limit',
      { ...execute, request: { ...wire(), limits: { ...wire().limits, memoryBytes: -1 } } },
    ],
    [
      'a request with an unknown egress policy',
      { ...execute, request: { ...wire(), egress: { policy: 'all', allow: [] } } },
    ],
    ['a request with an unknown tool', { ...execute, request: { ...wire(), tool: { name: 'sh', version: '1' } } }],
    ['a request with an invalid digest', { ...execute, request: { ...wire(), planDigest: 'latest' } }],
    ['an acknowledgement of an unknown kind', { type: 'ack', attempt: 1, of: 'everything', id: 1, ok: true }],
  ])('%s, refuses it', (_, message) => {
    expect(WorkerMessage.safeParse(message).success).toBe(false);
  });

  it('a valid request, accepts it', () => {
    expect(WorkerMessage.safeParse(execute).success).toBe(true);
  });
});

it('parsing a result drops members that its schema does not name', () => {
  const parsed = WireResult.parse({ ...result, write: '/../x', __proto__: { polluted: true } });
  expect(Object.keys(parsed).sort()).toEqual(['exitCode', 'message', 'outcome', 'reason']);
});
