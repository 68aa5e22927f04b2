import { describe, expect, it } from 'vitest';
import type { NodeReasonCode, NodeStatus } from '#domain/assemblies/model.ts';
import { type AssemblyFacts, decideAssemblyStep } from '#domain/assemblies/runs/steps/decide-step.ts';
import type { NodeFacts, NodeRun } from '#domain/assemblies/runs/steps/node-facts.ts';

const now = new Date('2026-01-01T12:00:00Z');
const minutes = (count: number) => new Date(now.getTime() + count * 60_000);

function node(key: string, given: Partial<NodeFacts> = {}): NodeFacts {
  return {
    key,
    status: 'pending',
    reason: null,
    dependencies: [],
    readsOutputsOf: [],
    run: null,
    attempts: 0,
    nextAttemptAt: null,
    startedAt: null,
    timeoutSeconds: null,
    retry: null,
    ...given,
  };
}

const ended = (key: string, status: NodeStatus, code?: NodeReasonCode) =>
  node(key, { status, reason: code ? { code, message: '' } : null });

function withRun(key: string, run: Partial<NodeRun>, given: Partial<NodeFacts> = {}): NodeFacts {
  const full = { id: `run of ${key}`, status: 'running', statusReason: null, retrySafe: false } as const;
  return node(key, {
    status: 'running',
    attempts: 1,
    startedAt: minutes(-1),
    run: { ...full, isUncertain: false, ...run },
    ...given,
  });
}

function decide(nodes: NodeFacts[], given: Partial<AssemblyFacts> = {}) {
  const step = decideAssemblyStep({ status: 'running', concurrency: 10, nodes, now, ...given });
  return { ...step, changes: Object.fromEntries(step.changes) };
}

describe('which nodes start', () => {
  it('every node without dependencies starts, and the others wait for named nodes', () => {
    const { changes, status } = decide([node('a'), node('b'), node('c', { dependencies: ['a', 'b'] })]);
    expect(changes).toEqual({
      a: { kind: 'start' },
      b: { kind: 'start' },
      c: { kind: 'wait_for_nodes', nodes: ['a', 'b'] },
    });
    expect(status).toBe('running');
  });

  it('a node starts once all of its dependencies succeeded or were skipped', () => {
    const nodes = [
      ended('a', 'succeeded'),
      ended('b', 'skipped', 'condition_false'),
      node('c', { dependencies: ['a', 'b'] }),
    ];
    expect(decide(nodes).changes).toEqual({ c: { kind: 'start' } });
  });

  it('no more nodes start than the concurrency allows, and a node that waits for approval uses no slot', () => {
    const waits = withRun('a', { status: 'pending_approval' }, { status: 'pending_approval' });
    const { changes } = decide([waits, withRun('b', {}), node('c'), node('d')], { concurrency: 2 });
    expect(changes).toEqual({ c: { kind: 'start' }, d: { kind: 'wait_for_slot' } });
  });

  it('a node that pauses before its next attempt uses no slot', () => {
    const pausing = withRun('a', { status: 'failed' }, { status: 'waiting', nextAttemptAt: minutes(1) });
    expect(decide([pausing, node('b')], { concurrency: 1 }).changes).toEqual({ b: { kind: 'start' } });
  });
});

describe('a node that fails', () => {
  it('makes its direct and indirect dependents skipped, and no other node', () => {
    const { changes } = decide([
      ended('a', 'failed', 'run_failed'),
      node('b', { dependencies: ['a'] }),
      node('c', { dependencies: ['b'] }),
      node('d'),
    ]);
    expect(changes).toMatchObject({
      b: { kind: 'end', status: 'skipped', reason: { code: 'dependency_failed' } },
      c: { kind: 'end', status: 'skipped', reason: { code: 'dependency_failed' } },
      d: { kind: 'start' },
    });
  });

  it('makes a dependent skipped at once, even while the dependent waits for another node', () => {
    const { changes } = decide([ended('a', 'failed'), withRun('b', {}), node('c', { dependencies: ['a', 'b'] })]);
    expect(changes['c']).toMatchObject({ kind: 'end', status: 'skipped' });
  });

  it('ends the assembly run as failed once no node runs', () => {
    expect(decide([ended('a', 'failed'), withRun('b', {})]).status).toBe('running');
    expect(decide([ended('a', 'failed'), ended('b', 'succeeded')])).toMatchObject({
      status: 'failed',
      reason: 'nodes_failed',
    });
  });
});

describe('a node that was skipped', () => {
  it('makes dependents that read its outputs skipped, and lets the others start', () => {
    const { changes } = decide([
      ended('a', 'skipped', 'condition_false'),
      node('b', { dependencies: ['a'], readsOutputsOf: ['a'] }),
      node('c', { dependencies: ['a'] }),
    ]);
    expect(changes).toMatchObject({
      b: { kind: 'end', status: 'skipped', reason: { code: 'outputs_missing' } },
      c: { kind: 'start' },
    });
  });

  it('provides its recorded outputs if the person who started the assembly run excluded it', () => {
    const { changes } = decide([
      ended('a', 'skipped', 'not_chosen'),
      node('b', { dependencies: ['a'], readsOutputsOf: ['a'] }),
    ]);
    expect(changes).toEqual({ b: { kind: 'start' } });
  });
});

describe("the end of a node's run", () => {
  const retry = { attempts: 3, backoffSeconds: 10 };

  it('gives the node the status of the run', () => {
    expect(decide([withRun('a', { status: 'succeeded' })]).changes['a']).toEqual({
      kind: 'end',
      status: 'succeeded',
      reason: null,
    });
    expect(decide([withRun('a', { status: 'failed', statusReason: 'apply_failed' })]).changes['a']).toMatchObject({
      status: 'failed',
      reason: { code: 'run_failed', message: 'applying failed; the log says why' },
    });
    expect(decide([withRun('a', { status: 'canceled', statusReason: 'rejected' })]).changes['a']).toMatchObject({
      status: 'canceled',
      reason: { code: 'run_rejected', message: 'a reviewer rejected the plan' },
    });
  });

  it('ends the assembly run as rejected if a plan was rejected, and as canceled if runs were only canceled', () => {
    const reasonOf = (...reasons: ('rejected' | 'canceled_by_user')[]) =>
      decide(reasons.map((statusReason, index) => withRun(`n${index}`, { status: 'canceled', statusReason })));
    expect(reasonOf('canceled_by_user', 'rejected')).toMatchObject({ status: 'canceled', reason: 'nodes_rejected' });
    expect(reasonOf('canceled_by_user')).toMatchObject({ status: 'canceled', reason: 'nodes_canceled' });
  });

  it('tries again after pauses that double', () => {
    const failed = (attempts: number) =>
      withRun('a', { status: 'failed', statusReason: 'step_failed' }, { attempts, retry });
    expect(decide([failed(1)]).changes['a']).toEqual({ kind: 'retry', at: new Date(now.getTime() + 10_000) });
    expect(decide([failed(2)]).changes['a']).toEqual({ kind: 'retry', at: new Date(now.getTime() + 20_000) });
    expect(decide([failed(3)]).changes['a']).toMatchObject({ kind: 'end', status: 'failed' });
  });

  it('tries an apply that may be incomplete again only if the template says that this is safe', () => {
    const interrupted = (retrySafe: boolean) =>
      withRun('a', { status: 'failed', statusReason: 'apply_interrupted', isUncertain: true, retrySafe }, { retry });
    expect(decide([interrupted(false)]).changes['a']).toMatchObject({ kind: 'end', status: 'failed' });
    expect(decide([interrupted(true)]).changes['a']).toMatchObject({ kind: 'retry' });
  });

  it('never tries again what people have rejected or canceled', () => {
    expect(
      decide([withRun('a', { status: 'canceled', statusReason: 'rejected' }, { retry })]).changes['a'],
    ).toMatchObject({ kind: 'end', status: 'canceled' });
  });
});

describe('a timeout', () => {
  const late = { startedAt: minutes(-10), timeoutSeconds: 300 };

  it('cancels the run, and ends the node as timed out once the run has ended', () => {
    expect(decide([withRun('a', {}, late)]).changes['a']).toEqual({ kind: 'cancel_run', because: 'time_limit' });
    expect(decide([withRun('a', { status: 'canceled', statusReason: 'canceled_by_user' }, late)])).toMatchObject({
      changes: { a: { kind: 'end', status: 'timed_out', reason: { code: 'time_limit' } } },
      status: 'timed_out',
    });
  });

  it('ends a node that pauses before its next try', () => {
    const pausing = withRun('a', { status: 'failed' }, { ...late, status: 'waiting', nextAttemptAt: minutes(1) });
    expect(decide([pausing]).changes['a']).toMatchObject({ kind: 'end', status: 'timed_out' });
  });

  it('sets the time at which the assembly run wakes', () => {
    expect(decide([withRun('a', {}, { timeoutSeconds: 120 })]).wakeAt).toEqual(minutes(1));
    expect(decide([withRun('a', {})]).wakeAt).toBeNull();
  });

  it('a node that ends now no longer wakes the assembly run at its time limit', () => {
    const succeeded = withRun('a', { status: 'succeeded' }, { timeoutSeconds: 120 });
    expect(decide([succeeded, withRun('b', {})]).wakeAt).toBeNull();
  });
});

describe('an assembly run that is canceled', () => {
  it('cancels the runs of its nodes, and ends the nodes that have none', () => {
    const { changes, status } = decide([withRun('a', {}), node('b', { dependencies: ['a'] }), node('c')], {
      status: 'canceling',
    });
    expect(changes).toMatchObject({
      a: { kind: 'cancel_run', because: 'canceled' },
      b: { kind: 'end', status: 'canceled' },
      c: { kind: 'end', status: 'canceled' },
    });
    expect(status).toBe('canceling');
  });

  it('ends canceled once the last run has ended, however that ended', () => {
    const { changes, status, reason } = decide([withRun('a', { status: 'failed' })], { status: 'canceling' });
    expect(changes['a']).toMatchObject({ kind: 'end', status: 'canceled' });
    expect([status, reason]).toEqual(['canceled', 'canceled_by_user']);
  });

  it('explains how the run of a node ended if that run was not canceled', () => {
    const messageOf = (run: Partial<NodeRun>) =>
      decide([withRun('a', run)], { status: 'canceling' }).changes['a'] as { reason: { message: string } };
    expect(messageOf({ status: 'canceled' }).reason.message).toBe('the assembly run was canceled');
    expect(messageOf({ status: 'failed', statusReason: 'apply_failed' }).reason.message).toBe(
      'the assembly run was canceled; the run of the node ended failed: applying failed; the log says why',
    );
  });

  it('keeps a node succeeded whose run succeeded before the cancellation', () => {
    const { changes } = decide([withRun('a', { status: 'succeeded' })], { status: 'canceling' });
    expect(changes['a']).toMatchObject({ kind: 'end', status: 'succeeded' });
  });
});

describe('the status of an assembly run', () => {
  const waiting = (key: string) => withRun(key, { status: 'pending_approval' }, { status: 'pending_approval' });

  it('is pending_approval while nodes wait for approval and no other node can proceed', () => {
    expect(decide([waiting('a'), node('b', { dependencies: ['a'] })]).status).toBe('pending_approval');
    expect(decide([waiting('a'), withRun('b', {})]).status).toBe('running');
    expect(decide([waiting('a'), node('b')]).status).toBe('running');
  });

  it('is succeeded if every node succeeded or was skipped by its condition', () => {
    expect(decide([ended('a', 'succeeded'), ended('b', 'skipped', 'condition_false')]).status).toBe('succeeded');
  });

  it('is failed if any node failed, else timed_out if any timed out, else canceled', () => {
    expect(decide([ended('a', 'failed'), ended('b', 'timed_out'), ended('c', 'canceled')]).status).toBe('failed');
    expect(decide([ended('b', 'timed_out'), ended('c', 'canceled')]).status).toBe('timed_out');
    expect(decide([ended('a', 'succeeded'), ended('c', 'canceled')]).status).toBe('canceled');
  });

  it('is pending_approval, like the node, while the run of the only node waits for approval', () => {
    const step = decide([withRun('a', { status: 'pending_approval' })]);
    expect(step.changes).toEqual({ a: { kind: 'follow', status: 'pending_approval' } });
    expect(step.status).toBe('pending_approval');
  });

  it('a repeated step changes nothing', () => {
    const step = decide([withRun('a', {}), node('b', { dependencies: ['a'] })]);
    expect(step.changes).toEqual({ b: { kind: 'wait_for_nodes', nodes: ['a'] } });
  });
});
