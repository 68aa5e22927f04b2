import { describe, expect, it } from 'vitest';
import { describeEvent } from '#api/runs/pages/events/event-words.ts';
import { explainReason } from '#api/runs/pages/run/reasons.ts';
import { layOutBar, type ShownEvent, toSteps } from '#api/runs/pages/run/timeline.ts';
import { renderTimeline } from '#api/runs/pages/run/timeline-view.ts';
import { toChanges } from '#api/runs/pages/run-changes.ts';
import type { ShownRun } from '#api/runs/pages/run-tab.ts';
import { runEvents } from '#domain/runs/events/events.ts';
import type { RunEventType } from '#domain/runs/events/publish-event.ts';
import { statusReasons } from '#domain/shared/vocabulary/run-reasons.ts';

const start = Date.parse('2026-11-22T09:00:00Z');
const minute = 60_000;

/** Events at minutes after the admission. */
const story = (...events: readonly (readonly [type: RunEventType, minutes: number])[]): ShownEvent[] =>
  events.map(([type, minutes], index) => ({
    sequence: index + 1,
    type,
    data: {},
    at: new Date(start + minutes * minute).toISOString(),
  }));

const unfinished = { operation: 'apply', finished_at: null } as const;

describe('the steps of a run', () => {
  it('follow from its events, and future steps from its operation', () => {
    const events = story(['run.admitted', 0], ['run.planning', 1], ['run.planned', 3], ['run.approval_required', 3]);
    const steps = toSteps(unfinished, events);
    expect(
      steps.map(({ key, from, to }) => [key, from && (from - start) / minute, to && (to - start) / minute]),
    ).toEqual([
      ['queued', 0, 1],
      ['planning', 1, 3],
      ['approval', 3, null],
      ['applying', null, null],
    ]);
    expect(toSteps({ ...unfinished, operation: 'plan' }, story(['run.admitted', 0])).map(({ key }) => key)).toEqual([
      'queued',
      'planning',
    ]);
  });

  it('the steps of a scan are only waiting and looking', () => {
    const scan = { ...unfinished, operation: 'scan' } as const;
    const keysOf = (events: readonly ShownEvent[]) => toSteps(scan, events).map(({ key }) => key);
    expect(keysOf(story(['run.admitted', 0]))).toEqual(['queued', 'detecting']);
    expect(keysOf(story(['run.admitted', 0], ['run.planning', 1], ['run.planned', 2]))).toEqual([
      'queued',
      'detecting',
    ]);
    expect(keysOf(story(['run.admitted', 0], ['run.planning', 1], ['run.gave_way', 2]))).toEqual([
      'queued',
      'detecting',
      'canceling',
    ]);
  });

  it('count lost workers, and include separate steps for hold, approval and cancellation', () => {
    const events = story(
      ['run.admitted', 0],
      ['run.planning', 1],
      ['run.attempt_lost', 2],
      ['run.planned', 4],
      ['run.approval_required', 4],
      ['run.reviewed', 5],
      ['run.held', 6],
      ['run.applying', 8],
      ['run.cancel_requested', 9],
      ['run.cancel_requested', 10],
      ['run.finished', 11],
    );
    const steps = toSteps({ operation: 'apply', finished_at: '2026-11-22T09:11:00Z' }, events);
    expect(steps.map(({ key, from, to, lost }) => [key, ((to ?? 0) - (from ?? 0)) / minute, lost])).toEqual([
      ['queued', 1, 0],
      ['planning', 3, 1],
      ['approval', 2, 0],
      ['held', 2, 0],
      ['applying', 1, 0],
      ['canceling', 2, 0],
    ]);
  });

  it('fill the bar, which shortens a wait of days and keeps a short step visible', () => {
    const events = story(
      ['run.admitted', 0],
      ['run.planning', 0],
      ['run.planned', 2],
      ['run.approval_required', 2],
      ['run.applying', 5000],
      ['run.finished', 5002],
    );
    const parts = layOutBar(toSteps({ ...unfinished, finished_at: '2026-11-25T20:22:00Z' }, events), start);
    expect(parts.map(({ key, isFolded }) => [key, isFolded])).toEqual([
      ['queued', false],
      ['planning', false],
      ['approval', true],
      ['applying', false],
    ]);
    expect(parts.at(-1)!.x + parts.at(-1)!.width).toBeCloseTo(1000);
    expect(parts[1]!.width).toBeCloseTo(parts[3]!.width);
    expect(parts[0]!.width).toBeGreaterThan(3);
    expect(parts[2]!.width).toBeLessThan(60);
  });

  it('link to the line of the log where they begin, on the page of the log that has it', async () => {
    const run = { ...unfinished, id: 'r1', status: 'running' } as unknown as ShownRun;
    const events = story(['run.admitted', 0], ['run.planning', 1], ['run.planned', 3], ['run.applying', 4]);
    const text = String(await renderTimeline(run, { events, places: { plan: 1, apply: 2204 } }));
    expect(text).toContain('tab=log&amp;from=1#L1">Plan<');
    expect(text).toContain('tab=log&amp;from=2001#L2204">Apply<');
    expect(String(await renderTimeline(run, { events, places: {} }))).toContain('?tab=log">Plan<');
  });

  it('are laid out even if a run has only begun to wait', () => {
    const parts = layOutBar(toSteps(unfinished, story(['run.admitted', 0])), start);
    expect(parts).toEqual([{ key: 'queued', x: 0, width: 1000, isFolded: false }]);
  });
});

/** Data of each type, with everything that is optional. */
const examples: Record<RunEventType, object> = {
  'run.admitted': { by: 'Ana', operation: 'destroy' },
  'run.planning': {},
  'run.planned': { digest: null, add: 1, change: 2, destroy: 3 },
  'run.approval_required': { required: 2, digest: null },
  'run.approval_requested': { by: 'Ana', reviewers: ['x', 'y'], message: 'Please' },
  'run.reviewed': { by: 'Ana', decision: 'reject', comment: 'Not on Friday' },
  'run.approval_lapsed': { by: 'Ana', reviewer_id: 'x', reason: 'disabled' },
  'run.held': { code: 'frozen', reason: 'Year end', until: '2027-01-04T06:00:00Z' },
  'run.applying': { digest: null },
  'run.attempt_lost': { phase: 'applying' },
  'run.connection_refused': { phase: 'planning', reason: 'connection_unbound', message: 'bind one' },
  'run.read_refused': { phase: 'planning', reason: 'outputs_not_readable', message: 'allow it' },
  'run.state_recovered': { serial: 7 },
  'run.state_refused': {
    attempt_id: 'x',
    write: 1,
    digest: 'x',
    file: null,
    worker_id: 'x',
    problem: 'another lineage',
  },
  'run.outputs_unrepresentable': { values: [{ output: 'x', path: '/a', reason: 'holds a NUL character' }], count: 1 },
  'run.not_contained': { pool: 'edge', message: 'the kernel refuses' },
  'run.cancel_requested': { by: 'Ana', reason: 'Wrong zone', force: true },
  'run.gave_way': { run_id: 'x' },
  'run.finished': { status: 'timed_out', reason: 'plan_timeout' },
  'run.undone': { run_id: 'x' },
  'run.commented': { by: 'Ana', comment_id: 'x' },
  'run.deleted': { by: 'Ana' },
};

describe('the descriptions of events and reasons', () => {
  it.each(Object.keys(runEvents) as RunEventType[])('describe %s in a sentence', async (type) => {
    const data = runEvents[type].data.parse(examples[type]) as ShownEvent['data'];
    const { text, said } = describeEvent({ type, data });
    const sentence = `${await text} ${said ?? ''}`;
    expect(sentence).toMatch(/^[A-Z<].*\./);
    expect(sentence).not.toMatch(/undefined|null|\[object/);
    if ('by' in data) expect(sentence).toContain('Ana');
  });

  it('explain every reason of an end, and are null for other text', () => {
    for (const reason of Object.keys(statusReasons)) {
      expect(explainReason(reason)).toEqual({
        why: expect.stringMatching(/^[A-Z].*\.$/),
        advice: expect.stringMatching(/^[A-Z].*\.$/),
      });
    }
    expect(explainReason('toString')).toBeNull();
    expect(explainReason(null)).toBeNull();
  });
});

describe('the stream of a page of a run', () => {
  const follow = async (shown: number, ...runs: readonly (readonly [string, number, number])[]) => {
    const watched = (async function* () {
      for (const [status, revision, lastEventSequence] of runs)
        yield { status: status as 'running', revision, lastEventSequence };
    })();
    const events: string[] = [];
    for await (const { event, data } of toChanges(watched, shown)) events.push(`${event} ${data}`);
    return events;
  };

  it('sends nothing while the page is up to date, even if the log grows', async () => {
    expect(await follow(4, ['running', 4, 9], ['running', 4, 9])).toEqual([]);
  });

  it('sends a change at once if the page was rendered before the last change', async () => {
    expect(await follow(3, ['running', 4, 9])).toEqual(['changed 4']);
  });

  it('sends new revisions and events without a new revision, and ends with the run', async () => {
    expect(
      await follow(
        4,
        ['running', 4, 9],
        ['running', 4, 10],
        ['running', 5, 11],
        ['succeeded', 6, 12],
        ['running', 7, 13],
      ),
    ).toEqual(['changed 4', 'changed 5', 'changed 6', 'end succeeded']);
  });
});
