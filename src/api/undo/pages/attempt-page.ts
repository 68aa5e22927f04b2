import type { FastifyReply } from 'fastify';
import { getRun } from '#api/runs/operations.ts';
import { titleOf } from '#api/runs/pages/run/head.ts';
import type { ShownRun } from '#api/runs/pages/run-tab.ts';
import { renderActions } from '#api/web/components/actions.ts';
import { renderIcon } from '#api/web/components/icon.ts';
import { renderInstanceLink, renderRunLink } from '#api/web/components/links/resource-links.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderTable } from '#api/web/components/table.ts';
import { renderAge } from '#api/web/components/time.ts';
import { renderSides } from '#api/web/components/value-change/render-value.ts';
import { type Html, html } from '#api/web/html.ts';
import { renderLinkedText } from '#api/web/linked-text.ts';
import { renderLive, renderStatic } from '#api/web/live/live.ts';
import { type LocalPath, pagePath, pages } from '#api/web/paths.ts';
import { toSentence } from '#api/web/text.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { type Action, toAction } from '#domain/shared/actions.ts';
import { newEffort } from '#domain/shared/values/comparison/compare.ts';
import { type Names, readNames } from '#domain/tenancy/names.ts';
import { hasInstanceChanged } from '#domain/undo/attempts/obstacles.ts';
import { type Destruction, destroyedSince } from '#domain/undo/attempts/rules.ts';
import { getAttempt, list, listChecks } from '../operations.ts';
import { leadsToNewRun, mayCheckAgain, nextStepOf } from './advice.ts';
import { checkAgain } from './check-again.ts';
import {
  nameOfPath,
  renderState,
  renderVerdict,
  type ShownAttempt,
  type ShownChecks,
  type ShownState,
  shownState,
  titleOfUndo,
  wordOfState,
} from './labels.ts';
import { readLaterEvents } from './later-events.ts';
import { renderFolded, renderNextStep, section } from './steps.ts';

type AttemptVisit = Visit<{ readonly id: string }>;

/** The states that change without the visitor. */
const moving: readonly ShownAttempt['state'][] = ['checking', 'candidate_checking'];

/** Shows an undo: its verdicts, its plan and its confirmation. Steps that need no decision continue by themselves. */
export async function showAttempt(visit: AttemptVisit): Promise<FastifyReply> {
  const { id } = visit.params;
  const attempt = await visit.read(getAttempt, { params: { id } });
  const params = { id: attempt.run_id };
  const [run, { candidate_checks: checks }, ofRun] = await Promise.all([
    visit.read(getRun, { params, query: {} }),
    visit.read(listChecks, { params: visit.params, query: { limit: '20' } }),
    visit.read(list, { params, query: { limit: '1' } }),
  ]);
  const names = await readNames(visit.em, { instances: [run.instance_id] });
  const later = await readLaterEvents(visit.em, run, [attempt.promoted_run_id]);
  const state = shownState(attempt, later);
  const isStale = state === 'outdated' || state === 'destroyed';
  const goesOn = !isStale && plansByItself(visit, attempt, checks);
  const content = html`${renderHead({ attempt, state, run, names, ofRun: await offerCheck(visit, attempt, state, ofRun.actions) })}
${renderSituation({ attempt, state, checks, destruction: later.destruction })}
${section('verdicts', 'What the undo changes', renderVerdicts(attempt))}
${await renderNextStep(visit, { attempt, checks, isStale, goesOn })}
${renderFolded(attempt, checks)}`;
  return visit.show({
    title: titleOfUndo(run, attempt),
    tabStatus: wordOfState(state),
    scripts: ['plan.js'],
    main: html`<div class="page page-wide">
${goesOn || moving.includes(attempt.state) ? renderFollowing(attempt, content) : renderStatic(content)}
</div>`,
  });
}

/** A part that is read again every few seconds, because attempts have no stream and a check takes only seconds. */
function renderFollowing({ id }: ShownAttempt, content: Html): Html {
  return renderLive({ stream: null, address: pagePath(pages.selectiveUndo, { id }), again: '3s' }, content);
}

/** Whether the page requests the first plan. It does so only for the visitor who requested the check. */
function plansByItself(visit: AttemptVisit, attempt: ShownAttempt, checks: ShownChecks): boolean {
  const mayPlan = attempt.actions.some(({ name, allowed }) => name === 'check_candidate' && allowed);
  return mayPlan && attempt.state === 'ready' && checks.length === 0 && attempt.requested_by.id === visit.principal.id;
}

/** The actions on the run that the page offers. Another check is offered only if it could have another result. */
async function offerCheck({ em }: Visit, attempt: ShownAttempt, state: ShownState, actions: readonly Action[]) {
  return mayCheckAgain(attempt, state, await hasInstanceChanged(em, attempt.id)) ? actions : [];
}

interface Head {
  readonly attempt: ShownAttempt;
  readonly state: ShownState;
  readonly run: ShownRun;
  readonly names: Names;
  /** The actions on the run that could help. */
  readonly ofRun: readonly Action[];
}

function renderHead({ attempt, state, run, names, ofRun }: Head): Html {
  const { id } = attempt;
  const newRun = leadsToNewRun(attempt, state);
  const planAgain = state === 'promotable' ? attempt.actions.filter(({ name }) => name === 'check_candidate') : [];
  return renderPageHead({
    title: titleOfUndo(run, attempt),
    crumbs: [
      { label: 'Runs', path: pagePath(pages.runs) },
      { label: titleOf(run), path: pagePath(pages.run, { id: run.id }) },
      { label: 'Undo', path: pagePath(pages.undoRun, { id: run.id }) },
    ],
    beside: renderState(state),
    below: html`Requested by <span class="foreign">${attempt.requested_by.name}</span> ${renderAge(attempt.created_at)} · ${renderInstanceLink(run.instance_id, names)}`,
    actions: renderActions([...(newRun ? [toAction('deploy', null)] : []), ...ofRun, ...planAgain], {
      deploy: {
        label: 'Deploy the values in a new run',
        icon: 'play',
        tone: newRun === 'only' ? 'primary' : 'plain',
        path: pathOfNewRun(attempt, run),
      },
      check: checkAgain(run.id, newRun === 'only' ? 'plain' : 'primary'),
      check_candidate: { label: 'Plan again', icon: 'refresh-cw', path: pagePath(pages.planUndo, { id }) },
    }),
    history: ['selective_undo', id],
  });
}

/**
 * The form for a run of the instance, filled in with the deployed values and, in their place, the values that the undo would have restored.
 */
function pathOfNewRun({ id, changes }: ShownAttempt, run: ShownRun): LocalPath {
  const version = changes.find(({ path }) => path === '/version')?.to;
  return pagePath(
    pages.newRun,
    { id: run.template_id },
    {
      from_instance: run.instance_id,
      undo: id,
      instance: run.instance,
      environment_id: run.environment_id ?? undefined,
      ...(typeof version === 'string' && { version }),
    },
  );
}

interface Situation {
  readonly attempt: ShownAttempt;
  readonly state: ShownState;
  readonly checks: ShownChecks;
  readonly destruction: Destruction | undefined;
}

function renderSituation({ attempt, state, checks, destruction }: Situation): Html {
  if (state === 'destroyed' && destruction)
    return renderNotice(true, html`${renderLinkedText(toSentence(destroyedSince(destruction).message))}`);
  const { problem } = attempt;
  const isBad = problem !== null || state === 'conflicted' || state === 'outdated';
  const what = problem
    ? html`<strong class="foreign">${renderLinkedText(toSentence(problem.message))}</strong> `
    : null;
  const where = state === 'outdated' ? null : renderWhere(attempt, checks);
  return renderNotice(isBad, html`${what}${nextStepOf(attempt, state)} ${where}`);
}

function renderNotice(isBad: boolean, content: Html): Html {
  return html`<div class="notice${isBad ? ' notice-problem' : ''}">${renderIcon(isBad ? 'octagon-x' : 'info')}<p>${content}</p></div>`;
}

/** Links to the subject of the state: the run that is executing, prevents the undo or deploys it, or the confirmation. */
function renderWhere({ state, problem, ...attempt }: ShownAttempt, [check]: ShownChecks): Html | null {
  if (state === 'promotable') return html`<a href="#undo-confirm">Go to the confirmation</a>`;
  const working = { checking: attempt.baseline_run_id, candidate_checking: check?.run_id ?? null } as const;
  const run = state === 'checking' || state === 'candidate_checking' ? working[state] : null;
  if (run) return html`<a href="${pagePath(pages.run, { id: run })}">Follow its run</a>`;
  const other = problem?.message.includes(`run ${problem.run_id}`) ? null : problem?.run_id;
  return other || attempt.promoted_run_id ? renderRunLink(other ?? attempt.promoted_run_id ?? '') : null;
}

type Verdict = ShownAttempt['verdicts'][number];

/** Sorts verdicts by importance: those that prevent the undo come first. */
function byWeight(one: Verdict, other: Verdict): number {
  const isFree = ({ verdict }: Verdict) => verdict === 'clean' || verdict === 'kept';
  return Number(isFree(one)) - Number(isFree(other));
}

/** Each path that the run changed: how the undo would change it, and what prevents that. */
function renderVerdicts({ verdicts, changes }: ShownAttempt): Html {
  if (verdicts.length === 0) return html`<p class="muted">The inputs of the run were not compared.</p>`;
  const changeAt = new Map(changes.map((change) => [change.path, change]));
  const effort = newEffort();
  const sides = ({ path }: Verdict) => {
    const change = changeAt.get(path);
    if (!change) return null;
    const kind = change.from === undefined ? 'added' : change.to === undefined ? 'removed' : 'changed';
    const shown = renderSides({ kind, before: change.from, after: change.to }, { maxCharacters: 4000, effort });
    return html`<div class="value-changes">${shown}</div>`;
  };
  return renderTable<Verdict>({
    caption: 'What the undo changes',
    rows: verdicts.toSorted(byWeight),
    columns: [
      { label: 'Input', kind: 'main', cell: ({ path }) => html`<code class="foreign">${nameOfPath(path)}</code>` },
      { label: 'Change', cell: sides },
      { label: 'Verdict', cell: ({ verdict }) => renderVerdict(verdict) },
      ...(verdicts.some(({ cause }) => cause) ? [{ label: 'Reason', cell: renderCause }] : []),
    ],
  });
}

function renderCause({ cause }: Verdict): Html | null {
  if (!cause) return null;
  const isNamed = cause.run_id !== null && cause.message.includes(`run ${cause.run_id}`);
  const link = cause.run_id === null || isNamed ? null : html` ${renderRunLink(cause.run_id)}`;
  return html`<span class="foreign">${renderLinkedText(toSentence(cause.message))}</span>${link}`;
}
