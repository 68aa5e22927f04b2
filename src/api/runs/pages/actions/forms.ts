import { renderRunLink } from '#api/web/components/links/resource-links.ts';
import type { FormField } from '#api/web/forms/fields/form-field.ts';
import { formPage } from '#api/web/forms/form-page.ts';
import { refusalOf, requireTypedName, typedNameField } from '#api/web/forms/resource-forms.ts';
import { type Html, html } from '#api/web/html.ts';
import { type LocalPath, pagePath, pages } from '#api/web/paths.ts';
import type { RunAction } from '#domain/runs/actions.ts';
import { readNames } from '#domain/tenancy/names.ts';
import { cancel, getRun, remove } from '../../operations.ts';
import { requeue } from '../../repeat-operations.ts';
import { operationWords } from '../labels.ts';
import { titleOf } from '../run/head.ts';
import type { RunVisit, ShownRun } from '../run-tab.ts';

/** An action of a run that a form asks about. */
interface ActionForm {
  readonly pattern:
    | typeof pages.cancelRun
    | typeof pages.forceCancelRun
    | typeof pages.requeueRun
    | typeof pages.deleteRun;
  readonly action: RunAction;
  readonly title: (run: ShownRun) => string;
  readonly verb: string;
  /** Absent for an action that ends or deletes something. */
  readonly tone?: 'primary';
  readonly fields: readonly FormField[];
  readonly consequences: (visit: RunVisit, run: ShownRun) => Promise<Html> | Html;
  /** Carries out the action, and returns the path to redirect to. */
  readonly work: (visit: RunVisit, id: string, reason: string) => Promise<LocalPath>;
}

const reasonField: FormField = {
  name: 'reason',
  label: 'Reason',
  isOptional: true,
  hint: 'Shown on the run.',
};

const actionForms: readonly ActionForm[] = [
  {
    pattern: pages.cancelRun,
    action: 'cancel',
    title: (run) => `Cancel “${titleOf(run)}”`,
    verb: 'Cancel the run',
    fields: [reasonField],
    consequences: (_visit, { status }) =>
      status === 'running'
        ? html`<p>The worker is told to stop and has 30 seconds to finish cleanly. Changes that were already made stay, and its state is kept.</p>`
        : html`<p>The run ends. It has not changed anything.</p>`,
    work: async (visit, id, reason) => {
      await visit.run(cancel, { params: { id }, body: reason ? { reason } : {} });
      return pagePath(pages.run, { id }, { done: 'canceled' });
    },
  },
  {
    pattern: pages.forceCancelRun,
    action: 'force',
    title: (run) => `Force cancel “${titleOf(run)}”`,
    verb: 'Force cancel',
    fields: [reasonField],
    consequences: () =>
      html`<p>The run ends immediately, and the next run of its instance starts. It does not wait for its worker, and everything that the worker still writes is rejected, including state.</p>
<p>If the run was applying, resources may exist that no state lists. Compare what is deployed with the latest state before the next apply.</p>`,
    work: async (visit, id, reason) => {
      await visit.run(cancel, { params: { id }, body: { force: true, ...(reason && { reason }) } });
      return pagePath(pages.run, { id }, { done: 'forced' });
    },
  },
  {
    pattern: pages.requeueRun,
    action: 'requeue',
    title: (run) => `Run “${titleOf(run)}” again`,
    verb: 'Run again',
    tone: 'primary',
    fields: [],
    consequences: describeRepetition,
    work: async (visit, id) => {
      const run = await visit.run(requeue, { params: { id } });
      return pagePath(pages.run, { id: run.id }, { done: 'admitted' });
    },
  },
  {
    pattern: pages.deleteRun,
    action: 'delete',
    title: (run) => `Delete “${titleOf(run)}”`,
    verb: 'Delete the run',
    fields: [],
    consequences: () =>
      html`<p><strong>What goes:</strong> its log, its plan, its comments and its inputs. They cannot be restored, and the run cannot be repeated.</p>
<p><strong>What stays:</strong> what it deployed, its state versions, who asked for it, its reviews, its events and the audit.</p>`,
    work: async (visit, id) => {
      await visit.run(remove, { params: { id } });
      return pagePath(pages.runs, {}, { done: 'deleted' });
    },
  },
];

async function describeRepetition(visit: RunVisit, run: ShownRun): Promise<Html> {
  const names = await readNames(visit.em, { environments: [run.environment_id], templates: [run.template_id] });
  const environment = run.environment_id === null ? null : names.get(run.environment_id)?.name;
  return html`${renderNewer(run)}<p>A new run starts with the same inputs: <strong>${operationWords[run.operation].toLowerCase()}</strong> of <strong>${run.instance}</strong>${
    environment ? html` in <strong class="foreign">${environment}</strong>` : null
  }, with <strong class="foreign">${names.get(run.template_id)?.name ?? 'the template'} ${run.template_version}</strong>.</p>
<p>It makes a new plan and needs the approvals that its environment requires now.</p>`;
}

/** Warns that repeating an apply replaces what a newer run has deployed since. */
function renderNewer({ instance, superseded_by: newer }: ShownRun): Html | null {
  if (!newer) return null;
  const done = newer.operation === 'destroy' ? 'destroyed' : 'deployed';
  return html`<p class="notice"><span><strong>A newer run has ${done} <span class="foreign">${instance}</span> since:</strong> ${renderRunLink(newer.run_id)}, with version <span class="foreign">${newer.template_version}</span>. Running the older one again replaces that with its own version and inputs.</span></p>`;
}

/** Whether the action destroys something again: people must type its name. */
function destroysAgain(action: RunAction, { operation }: ShownRun): boolean {
  return action === 'requeue' && operation === 'destroy';
}

/** The forms that cancel a run, end it by force, repeat it, or delete it. */
export const runForms = actionForms.map(({ pattern, action, title, verb, tone, fields, consequences, work }) =>
  formPage(pattern, {
    read: (visit) => visit.read(getRun, { params: visit.params, query: {} }),
    describe: async (run, visit) => ({
      title: title(run),
      crumbs: [
        { label: 'Runs', path: pagePath(pages.runs) },
        { label: titleOf(run), path: pagePath(pages.run, { id: run.id }) },
      ],
      lead: await consequences(visit, run),
      fields: destroysAgain(action, run) ? [...fields, typedNameField(run.instance)] : fields,
      submit: verb,
      tone: tone ?? 'danger',
      cancel: pagePath(pages.run, { id: run.id }),
      cancelLabel: 'Back to the run',
      refusal: refusalOf(run.actions, action),
    }),
    carryOut: (run, typed, visit) => {
      if (destroysAgain(action, run)) requireTypedName(typed, run.instance);
      return work(visit, run.id, typed['reason'] ?? '');
    },
  }),
);
