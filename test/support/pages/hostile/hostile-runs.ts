import type { ResourceChange } from '#domain/runs/plans/model.ts';
import { idAt } from '../runs/ids.ts';
import type { Actor, Place } from '../runs/places.ts';
import { changeOf, createAll } from '../runs/plans.ts';
import type { RunStory } from '../runs/stories/story.ts';
import { hostileLines, hostileName, hostileText, longWord } from './texts.ts';

const hour = 60 * 60_000;

/** Runs whose every text attacks the pages that show it. */
export function tellHostile(place: Place, reviewer: Actor) {
  const tell = (ago: number, part: Partial<RunStory>): RunStory => toStory(place, Date.now() - ago, part);
  const talk = [
    { by: reviewer, text: hostileText, after: 30 },
    { by: reviewer, text: longWord(400), after: 40 },
  ];
  const blocker = { by: null, name: hostileName(), reason: hostileText, until: null };
  return {
    /** Its log and its outputs are hostile. */
    applied: tell(8 * hour, { changes: createAll(place.resources), log: hostileLines, comments: talk }),
    failed: tell(6 * hour, { status: 'failed', reason: 'apply_failed', log: hostileLines }),
    /** Its plan has 10 MB. */
    large: tell(4 * hour, {
      status: 'canceled',
      reached: 'approval',
      reason: 'canceled_by_user',
      changes: largeChanges(),
      required: 1,
    }),
    pending: tell(2 * hour, {
      status: 'pending_approval',
      reached: 'approval',
      changes: hostileChanges(place),
      required: 1,
      asked: [reviewer],
      comments: talk,
      reviews: [{ by: { ...reviewer, name: hostileName(200) }, decision: 'approve', comment: hostileText }],
      waitingOn: { code: 'locked', blocker },
    }),
  };
}

function toStory(place: Place, at: number, part: Partial<RunStory>): RunStory {
  const [by] = place.requesters;
  if (!by) throw new Error('nobody requests these runs');
  return {
    id: idAt(at),
    place,
    operation: 'apply',
    by,
    at,
    message: hostileText,
    status: 'succeeded',
    reached: 'applying',
    reason: null,
    waitingOn: null,
    changes: [],
    required: 0,
    reviews: [],
    comments: [],
    asked: [],
    seconds: { queue: 1, plan: 10, approval: 60, apply: 30 },
    requeuedFrom: null,
    log: null,
    ...part,
  };
}

/** Values of every shape, addresses that lie, and marks that only look like those of secrets. */
function hostileChanges(place: Place): ResourceChange[] {
  const lookalike = { sensitive: 'true', unknown: [true], ['__proto__']: 1, constructor: { prototype: 1 } };
  const deep = Array.from({ length: 60 }).reduce<ResourceChange['before']>((inner) => ({ inner }), hostileText);
  return [
    ...place.resources.map((resource) => changeOf(resource, 'replace')),
    { address: hostileText.replaceAll('\n', ' '), action: 'delete', before: hostileText, after: null },
    { address: longWord(400), action: 'update', before: lookalike, after: { ...lookalike, sensitive: true, more: 1 } },
    { address: 'deep.one', action: 'update', before: deep, after: { inner: deep } },
    { address: 'lines.one', action: 'update', before: { text: lines(3000, 'a') }, after: { text: lines(3000, 'b') } },
    { address: 'list.one', action: 'update', before: Array(2000).fill(0), after: Array(2001).fill(1) },
    { address: 'word.one', action: 'update', before: longWord(400), after: 'y'.repeat(100_000) },
  ];
}

function lines(count: number, mark: string): string {
  return Array.from({ length: count }, (_, index) => `line ${index} ${index % 7 === 0 ? mark : ''}`).join('\n');
}

/** 10 MB in few changes. */
function largeChanges(): ResourceChange[] {
  const text = lines(20_000, hostileName());
  return Array.from({ length: 12 }, (_, index) => ({
    address: `blob.part[${index}]`,
    action: 'update' as const,
    before: { text },
    after: { text: text.replaceAll('line 1', 'line one') },
  }));
}
