import type { FastifyReply } from 'fastify';
import { getRun } from '#api/runs/operations.ts';
import { titleOf } from '#api/runs/pages/run/head.ts';
import { renderVariables } from '#api/runs/pages/run/values.ts';
import { runTabPath, type ShownRun } from '#api/runs/pages/run-tab.ts';
import { renderActions } from '#api/web/components/actions.ts';
import { renderFacts } from '#api/web/components/facts.ts';
import { renderIcon } from '#api/web/components/icon.ts';
import { renderInstanceLink } from '#api/web/components/links/instance-link.ts';
import { renderRunLink } from '#api/web/components/links/run-link.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderEmpty, renderTable } from '#api/web/components/table.ts';
import { renderAge } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { renderLinkedText } from '#api/web/linked-text.ts';
import { renderLive, renderStill } from '#api/web/live/live.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { pluralize, toSentence } from '#api/web/text.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { Action } from '#domain/shared/actions.ts';
import { type Names, readNames } from '#domain/tenancy/names-store.ts';
import { getAttempt, list, listChecks } from '../operations.ts';
import { renderVerdicts } from './changes.ts';
import { nextSteps, renderState, type ShownAttempt, wordOfState } from './words.ts';

type AttemptVisit = Visit<{ readonly id: string }>;
type ShownChecks = Awaited<ReturnType<typeof readChecks>>;

/** The states that change without the visitor. */
const moving: readonly ShownAttempt['state'][] = ['checking', 'candidate_checking'];

/** Shows an attempt at undoing a run: verdicts, what would be deployed, its plan, and what can be done next. */
export async function showAttempt(visit: AttemptVisit): Promise<FastifyReply> {
  const { id } = visit.params;
  const attempt = await visit.read(getAttempt, { params: { id } });
  const params = { id: attempt.run_id };
  const [run, checks, ofRun] = await Promise.all([
    visit.read(getRun, { params, query: {} }),
    readChecks(visit),
    visit.read(list, { params, query: { limit: '1' } }),
  ]);
  const names = await readNames(visit.em, { instances: [run.instance_id] });
  const content = html`${renderHead({ attempt, run, names, ofRun: ofRun.actions })}
${renderSituation(attempt)}
${section('verdicts', 'What the run changed', renderVerdicts(attempt))}
${section('candidate', 'What would be deployed', renderCandidate(attempt))}
${attempt.candidate ? section('plans', 'Plans of it', renderChecks(checks)) : null}`;
  return visit.show({
    title: `Undo of ${titleOf(run)}`,
    tabStatus: wordOfState(attempt.state),
    main: html`<div class="page page-wide">
${renderFollowing(attempt, content)}
</div>`,
  });
}

/** No stream announces an attempt: a check takes seconds, so the page looks again. */
function renderFollowing({ id, state }: ShownAttempt, content: Html): Html {
  if (!moving.includes(state)) return renderStill(content);
  return renderLive({ stream: null, address: pagePath(pages.selectiveUndo, { id }), again: '3s' }, content);
}

async function readChecks(visit: AttemptVisit) {
  const { candidate_checks: checks } = await visit.read(listChecks, { params: visit.params, query: { limit: '20' } });
  return checks;
}

/** The states out of which only another check leads. */
const stuck: readonly ShownAttempt['state'][] = ['conflicted', 'blocked', 'failed'];

interface Head {
  readonly attempt: ShownAttempt;
  readonly run: ShownRun;
  readonly names: Names;
  /** What can be done with the run. */
  readonly ofRun: readonly Action[];
}

function renderHead({ attempt, run, names, ofRun }: Head): Html {
  const { id } = attempt;
  const again = stuck.includes(attempt.state) ? ofRun : [];
  return renderPageHead({
    title: `Undo of “${titleOf(run)}”`,
    crumbs: [
      { label: 'Runs', path: pagePath(pages.runs) },
      { label: titleOf(run), path: pagePath(pages.run, { id: run.id }) },
      { label: 'Undo', path: pagePath(pages.undoRun, { id: run.id }) },
    ],
    beside: renderState(attempt.state),
    below: html`Asked by <span class="foreign">${attempt.requested_by.name}</span> ${renderAge(attempt.created_at)} · ${renderInstanceLink(run.instance_id, names)}`,
    actions: renderActions([...again, ...attempt.actions], {
      check: {
        label: 'Check again',
        icon: 'refresh-cw',
        tone: 'primary',
        path: pagePath(pages.undoRun, { id: run.id }),
      },
      check_candidate: {
        label: attempt.state === 'promotable' ? 'Plan again' : 'Plan',
        icon: 'refresh-cw',
        tone: attempt.state === 'ready' ? 'primary' : 'plain',
        path: pagePath(pages.planUndo, { id }),
      },
      promote: { label: 'Promote', icon: 'undo-2', tone: 'primary', path: pagePath(pages.promoteUndo, { id }) },
    }),
    history: ['selective_undo', id],
  });
}

function renderSituation({ state, problem, promoted_run_id: promoted }: ShownAttempt): Html {
  const isBad = problem !== null || state === 'conflicted';
  const what = problem
    ? html`<strong class="foreign">${renderLinkedText(toSentence(problem.message))}</strong> `
    : null;
  const run = problem?.message.includes(`run ${problem.run_id}`) ? null : (problem?.run_id ?? promoted);
  return html`<div class="notice${isBad ? ' notice-problem' : ''}">${renderIcon(isBad ? 'octagon-x' : 'info')}<p>${what}${nextSteps[state]}${
    run ? html` ${renderRunLink(run)}` : null
  }</p></div>`;
}

function section(id: string, title: string, content: Html): Html {
  return html`<section class="panel run-section" aria-labelledby="undo-${id}"><h2 id="undo-${id}">${title}</h2>${content}</section>`;
}

function renderCandidate({ candidate }: ShownAttempt): Html {
  if (!candidate) return html`<p class="muted">Nothing, because the undo is blocked.</p>`;
  const { collateral } = candidate;
  return html`${renderFacts([
    ['Version', candidate.version],
    ['Digest', html`<code class="foreign">${candidate.digest}</code>`],
    ['Other resources affected', collateral === null ? 'not planned yet' : renderCollateral(collateral)],
  ])}
<h3>Variables</h3>
${renderVariables(candidate.variables)}`;
}

function renderCollateral(collateral: readonly string[]): Html | string {
  if (collateral.length === 0) return 'nothing';
  return html`<ul class="plain-list">${collateral.map((address) => html`<li><code class="foreign">${address}</code></li>`)}</ul>`;
}

const checkWords = { checking: 'under way', passed: 'planned', failed: 'failed' } as const;

function renderChecks(checks: ShownChecks): Html {
  if (checks.length === 0) return renderEmpty('Not planned yet', 'A plan shows which resources the undo would affect.');
  return renderTable<ShownChecks[number]>({
    caption: 'Plans',
    rows: checks,
    columns: [
      {
        label: 'Plan',
        kind: 'main',
        cell: ({ run_id: run }) => html`<a href="${runTabPath(run, 'plan')}">plan of run …${run.slice(-6)}</a>`,
      },
      {
        label: 'Result',
        cell: ({ state, problem }) =>
          problem
            ? html`<span class="foreign">${renderLinkedText(toSentence(problem.message))}</span>`
            : checkWords[state],
      },
      {
        label: 'Other resources',
        cell: ({ collateral }) => (collateral ? pluralize(collateral.length, 'resource') : null),
      },
      {
        label: 'Requested by',
        kind: 'minor',
        cell: ({ requested_by: by }) => html`<span class="foreign">${by.name}</span>`,
      },
      { label: 'Time', cell: ({ created_at: at }) => renderAge(at) },
    ],
  });
}
