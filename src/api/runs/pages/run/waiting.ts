import { renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { type LocalPath, pagePath, pages } from '#api/web/paths.ts';
import { pluralize } from '#api/web/text.ts';
import { describeTool } from '#api/workers/tool-words.ts';
import type { WaitingCode } from '#domain/shared/vocabulary/waiting.ts';
import type { ListedShownRun } from '../run-tab.ts';

type Waiting = NonNullable<ListedShownRun['waiting_on']>;
type Hold = Exclude<Waiting['blocker'], string | null | { scope: string }>;

/** Why a run waits, in words. */
export interface WaitingWords {
  /** A few words for a list. */
  readonly short: string;
  /** What it waits for. */
  readonly what: Html | string;
  /** Who can end the wait, and how. */
  readonly who: Html | string;
  /** A link to the thing that the run waits for. */
  readonly blocker: { readonly label: string; readonly path: LocalPath } | null;
}

/** Describes what a run waits for, who can end that, and where it can be seen; null if the run does not wait. */
export function describeWaiting(run: ListedShownRun): WaitingWords | null {
  const { waiting_on: waiting } = run;
  return waiting && words[waiting.code](run, waiting);
}

const words: Readonly<Record<WaitingCode, (run: ListedShownRun, waiting: Waiting) => WaitingWords>> = {
  engine: (_run, waiting) => ({
    short: 'its start',
    what: 'The run was created and has not started yet.',
    who: hasJustBegun(waiting)
      ? 'This takes a moment.'
      : 'This usually takes a moment. An operator should check that a worker is running and that Temporal can be reached.',
    blocker: null,
  }),
  instance_busy: ({ instance }, { position, blocker }) => ({
    short: position ? `another run (${position} ahead)` : 'another run',
    what: html`Another run has the instance ${instance}. Runs of one instance go one after the other${
      position ? `; ${pluralize(position, 'unfinished run')} ahead of this one` : null
    }.`,
    who: 'It continues when that run has finished or was canceled.',
    blocker:
      typeof blocker === 'string' ? { label: 'Show that run', path: pagePath(pages.run, { id: blocker }) } : null,
  }),
  quota: describeQuota,
  pool_share: describeShare,
  no_worker: describeNoWorker,
  approval: describeApproval,
  paused: (_run, { blocker }) => ({
    short: 'the end of a pause',
    what: html`All applies of the installation are paused${describeHold(blocker)}`,
    who: 'It continues when the pause ends. An administrator can end it earlier.',
    blocker: { label: 'Show the pause', path: pagePath(pages.workers) },
  }),
  locked: (run, { blocker }) => ({
    short: 'the lock of its environment',
    what: html`The environment is locked${describeHold(blocker)}`,
    who: 'It continues when the lock ends. Anybody who may change the environment can unlock it.',
    blocker: environmentOf(run),
  }),
  frozen: (run, { blocker }) => ({
    short: 'the end of a freeze window',
    what: html`A freeze window of the environment is open${describeHold(blocker)}`,
    who: 'It continues when the window closes. Anybody who may change the environment can change its windows.',
    blocker: environmentOf(run),
  }),
};

/** Says whose share of the pool is used up. It is unknown for runs that began to wait before the service recorded it. */
function describeShare({ pool, team_id: team, requested_by: by }: ListedShownRun, { share }: Waiting): WaitingWords {
  const holders = {
    team:
      team === null
        ? {
            short: 'the share that runs without a team have of its pool',
            who: html`This run has no team. All runs without one count as one team, which`,
            runs: 'the runs without a team',
          }
        : { short: "its team's share of its pool", who: html`The team of this run`, runs: 'the runs of the team' },
    person: {
      short: "its requester's share of its pool",
      who:
        by.type === 'user'
          ? html`<span class="foreign">${by.name}</span>`
          : html`The person who is responsible for <span class="foreign">${by.name}</span>`,
      runs: 'their runs',
    },
  };
  const either = html`The team of this run, or the person who requested it,`;
  const { short, who, runs } = share
    ? holders[share]
    : { short: 'a share of its pool', who: either, runs: 'their runs' };
  return {
    short,
    what: html`Several teams share the pool ${pool}. ${who} has all the slots that one ${share ?? 'of them'} may have at once.`,
    who: `It continues when one of ${runs} in the pool has ended. An operator can add workers, or change the shares of the pool.`,
    blocker: { label: 'Show the pool and its shares', path: pagePath(pages.workerPool, { name: pool }) },
  };
}

/** How long a run usually waits for its start or for a worker, in milliseconds. */
const usualWaitMs = 10_000;

/** Whether the wait is not longer than usual yet. Advice about what may be wrong would only alarm. */
function hasJustBegun({ since }: Waiting): boolean {
  return Date.now() - Date.parse(since) < usualWaitMs;
}

/** Says what the workers of the pool lack, if it is known. A run that has just begun to wait needs no explanation. */
function describeNoWorker({ pool }: ListedShownRun, waiting: Waiting): WaitingWords {
  const { tools = [] } = waiting;
  const blocker = { label: 'Show the workers', path: pagePath(pages.workers) };
  if (tools.length === 0 && hasJustBegun(waiting))
    return {
      short: `a worker of ${pool}`,
      what: html`The run is ready, and the next free worker of the pool ${pool} takes it.`,
      who: 'This takes a moment.',
      blocker: null,
    };
  if (tools.length === 0)
    return {
      short: `a worker of ${pool}`,
      what: html`No worker of the pool ${pool} is free for it: all are busy, or none is live, has the tool, or contains template code where that is required.`,
      who: 'It continues when a worker is free. An operator can start another one.',
      blocker,
    };
  const wanted = tools.map(describeTool).join(' or ');
  return {
    short: `a worker with ${wanted}`,
    what: html`It needs ${wanted}, and no worker of the pool ${pool} that has it is live, allowed to use it, and contains template code where that is required.`,
    who: 'It continues when a worker has it. An operator can add the version to the workers of the pool, or start a worker that has it.',
    blocker,
  };
}

function describeQuota(_run: ListedShownRun, { position, blocker }: Waiting): WaitingWords {
  const quota = blocker !== null && typeof blocker === 'object' && 'scope' in blocker ? blocker : null;
  const owner = quota ? `the ${quota.scope}` : 'an owner of the run';
  const ahead = position ? ` (${position} ahead)` : '';
  const isReadable = quota?.limit !== null && quota?.used !== null;
  const full = quota && isReadable ? ` When it last looked, ${quota.used} of ${quota.limit} were executing.` : '';
  return {
    short: `the quota of ${owner}${ahead}`,
    what:
      quota && !isReadable
        ? `The quota of ${owner} cannot be read, so no run starts.`
        : `As many runs of ${owner} are executing as may at once.${full}${position ? ` Before this one, ${pluralize(position, 'run')} waited for a place.` : ''}`,
    who: 'It continues when one of them finishes or waits for approval. An administrator can raise or remove the quota.',
    blocker: null,
  };
}

/** Describes the missing approvals. A list does not say which reviews count, so there the number that count is left out. */
function describeApproval({ approval }: ListedShownRun): WaitingWords {
  const { required, expires_at: expires, reviews } = approval;
  const counted = reviews.filter((review) => 'counts' in review && review.counts === true).length;
  return {
    short: 'approval',
    what: html`The plan needs ${required === 1 ? 'one approval' : `${required} approvals`}${
      counted > 0 ? html`, and has ${counted}` : null
    }.`,
    who: html`Members of its team who may approve runs decide${
      approval.allow_self ? null : ', but not who asked for the run or published its template version'
    }.${expires ? html` Without a decision, it ends ${renderTime(expires)}.` : null}`,
    blocker: null,
  };
}

/** The end of a sentence about a hold, with its reason. */
function describeHold(blocker: Waiting['blocker']): Html | string {
  if (blocker === null || typeof blocker === 'string' || 'scope' in blocker) return '.';
  const { by, name, reason, until }: Hold = blocker;
  return html`${name ? html` (<span class="foreign">${name}</span>)` : null}${
    by ? html` by <span class="foreign">${by.name}</span>` : null
  }${until ? html` until ${renderTime(until)}` : null}. <q class="foreign">${reason}</q>`;
}

function environmentOf({ environment_id: id }: ListedShownRun): WaitingWords['blocker'] {
  return id === null ? null : { label: 'Show the environment', path: pagePath(pages.environment, { id }) };
}
