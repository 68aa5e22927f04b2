import type { EncodedAnswerOf } from '#api/pipeline/answers/answer-types.ts';
import { getRun } from '#api/runs/operations.ts';
import { titleOf } from '#api/runs/pages/run/head.ts';
import type { ShownRun } from '#api/runs/pages/run-tab.ts';
import { renderActions } from '#api/web/components/actions.ts';
import { renderInstanceLink, renderRunLink } from '#api/web/components/links/resource-links.ts';
import { renderTable } from '#api/web/components/table.ts';
import { renderAge } from '#api/web/components/time.ts';
import { isYes } from '#api/web/forms/fields/yes.ts';
import { formPage } from '#api/web/forms/form-page.ts';
import { refusalOf } from '#api/web/forms/resource-forms.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { toAction } from '#domain/shared/actions.ts';
import { type Names, readNames } from '#domain/tenancy/names.ts';
import type { Destruction } from '#domain/undo/attempts/rules.ts';
import { readInstanceNow } from '#domain/undo/deployments/deployments-store.ts';
import { check, checkCandidate, getAttempt, list, promote } from '../operations.ts';
import { checkAgain } from './check-again.ts';
import {
  type LaterEvents,
  planLabel,
  promoteLabel,
  renderState,
  type ShownAttempt,
  shownState,
  titleOfUndo,
} from './labels.ts';
import { readLaterEvents } from './later-events.ts';
import { explainPromotion, nameOfResource, promotionFields } from './promotion.ts';

interface Subject {
  readonly attempt: ShownAttempt;
  readonly run: ShownRun;
  /** The button for a new check, if the attempt cannot continue without one. */
  readonly again: Html | null;
}

/** The form has a box of about 80 bytes for each affected resource, of which there are at most 10,000. */
const promotionFormLimit = 1024 * 1024;

type ById = { readonly id: string };

interface RunWithAttempts {
  readonly run: ShownRun;
  readonly undo: ShownAttempts;
  readonly names: Names;
  readonly later: Awaited<ReturnType<typeof readLaterEvents>>;
  /** The run that deployed the instance last. */
  readonly deployedRunId: string | null;
}

/** Says that the run is undone, and what is deployed instead. */
function renderUndone({ undone_by: by }: ShownRun, { actions }: ShownAttempts, deployed: string | null): Html | null {
  if (by === null || deployed === null || !refusalOf(actions, 'check')?.startsWith('already undone')) return null;
  return html`<p>The instance is deployed from ${renderRunLink(deployed)} now${deployed === by ? ', which undid this run' : null}.</p>`;
}

/** Says what helps instead of an undo, after a destroy. */
function renderNewRun(run: ShownRun, destruction: Destruction | undefined): Html | null {
  const { id, operation, template_id: template, instance_id: instance } = run;
  if (operation !== 'destroy' && !destruction) return null;
  const isRepeated = destruction?.isRemoved ?? false;
  return renderActions([toAction('deploy', isRepeated ? refusalOf(run.actions, 'copy') : null)], {
    deploy: {
      label: isRepeated ? 'Deploy the values of this run again' : 'Deploy in a new run',
      icon: 'play',
      tone: 'primary',
      path: pagePath(pages.newRun, { id: template }, isRepeated ? { from: id } : { from_instance: instance }),
    },
  });
}

async function readRunWithAttempts(visit: Visit<ById>): Promise<RunWithAttempts> {
  const { params } = visit;
  const [run, undo] = await Promise.all([
    visit.read(getRun, { params, query: {} }),
    visit.read(list, { params, query: { limit: '20' } }),
  ]);
  const names = await readNames(visit.em, { instances: [run.instance_id] });
  const promoted = undo.attempts.map(({ promoted_run_id: id }) => id);
  const [later, instance] = await Promise.all([
    readLaterEvents(visit.em, run, promoted),
    readInstanceNow(visit.em, run.instance_id),
  ]);
  return { run, undo, names, later, deployedRunId: instance?.deployedRunId ?? null };
}

async function readAttempt(visit: Visit<ById>): Promise<Subject> {
  const attempt = await visit.read(getAttempt, { params: visit.params });
  const run = await visit.read(getRun, { params: { id: attempt.run_id }, query: {} });
  const { outdated, isDestroyed } = await readLaterEvents(visit.em, run, []);
  const isHelpful = outdated.has(attempt.id) && !isDestroyed;
  return { attempt, run, again: isHelpful ? await renderCheckAgain(visit, run) : null };
}

async function renderCheckAgain(visit: Visit<ById>, { id }: ShownRun): Promise<Html> {
  const { actions } = await visit.read(list, { params: { id }, query: { limit: '1' } });
  return renderActions(actions, { check: checkAgain(id, 'primary') });
}

function crumbsOf(run: ShownRun) {
  return [
    { label: 'Runs', path: pagePath(pages.runs) },
    { label: titleOf(run), path: pagePath(pages.run, { id: run.id }) },
  ];
}

function common({ attempt, run, again }: Subject, action: string) {
  const own = pagePath(pages.selectiveUndo, { id: attempt.id });
  return {
    crumbs: [...crumbsOf(run), { label: 'Undo', path: own }],
    cancel: own,
    actions: again,
    refusal: refusalOf(attempt.actions, action),
  };
}

type ShownAttempts = EncodedAnswerOf<(typeof list)['responses']>;
type Row = ShownAttempts['attempts'][number];

/** The earlier attempts to undo a run; null if there are none. */
function renderAttempts(attempts: readonly Row[], later: LaterEvents): Html | null {
  if (attempts.length === 0) return null;
  return html`<h2>Earlier checks</h2>
${renderTable<Row>({
  caption: 'Earlier checks',
  rows: attempts,
  columns: [
    {
      label: 'Check',
      kind: 'main',
      cell: ({ id, created_at: at }) => html`<a href="${pagePath(pages.selectiveUndo, { id })}">${renderAge(at)}</a>`,
    },
    { label: 'State', cell: (row) => renderState(shownState(row, later)) },
    { label: 'Requested by', cell: ({ requested_by: by }) => html`<span class="foreign">${by.name}</span>` },
  ],
})}`;
}

/** The forms that check an undo, plan it and promote it. */
export const undoForms = [
  formPage(pages.undoRun, {
    read: readRunWithAttempts,
    describe: ({ run, undo, names, later, deployedRunId }) => ({
      title: titleOfUndo(run),
      crumbs: crumbsOf(run),
      lead: html`${renderUndone(run, undo, deployedRunId)}<p>Reverts what this run changed in the inputs of ${renderInstanceLink(run.instance_id, names)}, and keeps what later runs changed.</p>
<p>First, a check compares the run with those before and after it, and the instance with its latest state. If nothing is in the way, a run plans the undo. Neither changes anything. You then see what the undo affects, and confirm it.</p>
${renderAttempts(undo.attempts, later)}`,
      fields: [],
      submit: 'Check and plan',
      cancel: pagePath(pages.run, { id: run.id }),
      refusal: refusalOf(undo.actions, 'check'),
      actions: renderNewRun(run, later.destruction),
    }),
    carryOut: async ({ run }, _typed, visit) => {
      const { id } = await visit.run(check, { params: { id: run.id } });
      return pagePath(pages.selectiveUndo, { id });
    },
  }),
  formPage(pages.planUndo, {
    read: readAttempt,
    describe: (subject) => ({
      ...common(subject, 'check_candidate'),
      title: titleOfUndo(subject.run, subject.attempt),
      lead: html`<p>A run plans what would be deployed. It changes nothing and needs no approval. You then see every resource that the undo would affect.</p>`,
      fields: [],
      submit: planLabel,
    }),
    carryOut: async ({ attempt: { id } }, _typed, visit) => {
      await visit.run(checkCandidate, { params: { id } });
      return pagePath(pages.selectiveUndo, { id });
    },
  }),
  formPage(
    pages.promoteUndo,
    {
      read: readAttempt,
      describe: (subject) => ({
        ...common(subject, 'promote'),
        title: titleOfUndo(subject.run, subject.attempt),
        lead: explainPromotion(subject.attempt),
        fields: promotionFields(subject.attempt),
        submit: promoteLabel,
      }),
      carryOut: async ({ attempt: { id, candidate } }, { message, candidate_digest: digest = '', ...typed }, visit) => {
        const accepted = (candidate?.collateral ?? []).filter((address) => isYes(typed[nameOfResource(address)]));
        const body = { candidate_digest: digest, accepted_collateral: accepted, ...(message && { message }) };
        const run = await visit.run(promote, { params: { id }, body });
        return pagePath(pages.run, { id: run.id }, { done: 'admitted' });
      },
    },
    { bodyLimit: promotionFormLimit },
  ),
];
