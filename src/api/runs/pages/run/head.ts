import { type IconName, renderIcon } from '#api/web/components/icon.ts';
import { renderRunLink } from '#api/web/components/links/resource-links.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderRunStatus } from '#api/web/components/status.ts';
import { renderAge, renderSince } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { explainDenial, isDenial } from '#api/web/plain-words.ts';
import { toSentence } from '#api/web/text.ts';
import { describeTool } from '#api/workers/tool-words.ts';
import { describePartial } from '#domain/runs/options/model.ts';
import type { Names } from '#domain/tenancy/names.ts';
import { operationWords } from '../labels.ts';
import type { ShownRun } from '../run-tab.ts';
import { runTabPath } from '../run-tab.ts';
import { explainReason } from './reasons.ts';
import { mayApprove, renderAsked } from './review-request.ts';
import { renderStatusDetail, type ShownDetail } from './status-detail.ts';
import type { ShownEvent } from './timeline.ts';
import { describeWaiting } from './waiting.ts';

export function titleOf({
  operation,
  instance,
  tool_switch: tool,
}: Pick<ShownRun, 'operation' | 'instance' | 'tool_switch'>): string {
  return `${tool === null ? operationWords[operation] : `Switch to ${describeTool({ name: tool.name })}`}: ${instance}`;
}

/** The head of a run's page: its operation, its status, its most important facts, and the buttons. */
export function renderRunHead(run: ShownRun, names: Names, actions: Html | null): Html {
  return renderPageHead({
    title: titleOf(run),
    crumbs: [{ label: 'Runs', path: pagePath(pages.runs) }],
    beside: renderRunStatus(run),
    below: renderBrief(run, names),
    actions,
    history: ['runs', run.id],
  });
}

function renderBrief(run: ShownRun, names: Names): Html {
  const { environment_id: environment, template_id: template, template_version: version } = run;
  const { requested_by: by, requeued_from: repeated, assembly_node: node, assembly_run_id: assemblyRun } = run;
  const {
    drift_monitor_id: monitor,
    drift_finding_id: finding,
    undoes,
    undone_by: undo,
    started_by_run_id: source,
  } = run;
  const items: readonly (readonly [icon: IconName, label: string, content: Html] | null)[] = [
    ['user', 'Requested by', html`<span class="foreign">${by.name}</span>`],
    ['clock', 'Created', renderAge(run.created_at)],
    [
      'boxes',
      'Instance',
      html`<a class="foreign" href="${pagePath(pages.instance, { id: run.instance_id })}">${run.instance}</a>`,
    ],
    environment === null
      ? null
      : [
          'layers',
          'Environment',
          html`<a class="foreign" href="${pagePath(pages.environment, { id: environment })}">${names.get(environment)?.name ?? 'deleted'}</a>`,
        ],
    [
      'book-open',
      'Template',
      html`<a class="foreign" href="${pagePath(pages.templateVersion, { id: template, version })}">${names.get(template)?.name ?? 'deleted'} ${version}</a>`,
    ],
    node === null || assemblyRun === null
      ? null
      : [
          'workflow',
          'Node of an assembly run',
          html`<a class="foreign" href="${pagePath(pages.assemblyRun, { id: node.assembly_id, runID: assemblyRun })}">${names.get(node.assembly_id)?.name ?? 'assembly'}</a> / <span class="mono foreign">${node.key}</span>`,
        ],
    monitor === null
      ? null
      : ['activity', 'Scans for', html`<a href="${pagePath(pages.driftMonitor, { id: monitor })}">a drift monitor</a>`],
    finding === null
      ? null
      : [
          'activity',
          'Remediates',
          html`<a href="${pagePath(pages.driftFinding, { id: finding })}">a drift finding</a>`,
        ],
    source === null
      ? null
      : ['workflow', 'Reason', html`started because ${renderRunLink(source)} changed outputs that it reads`],
    undoes === null ? null : ['undo-2', 'Undoes', html`undoes ${renderRunLink(undoes)}`],
    undo === null ? null : ['undo-2', 'Undone', html`undone by ${renderRunLink(undo)}`],
    repeated === null
      ? null
      : ['refresh-cw', 'Repeats', html`<a href="${pagePath(pages.run, { id: repeated })}">an earlier run</a>`],
  ];
  return html`<span class="run-brief">${items
    .filter((item) => item !== null)
    .map(
      ([icon, label, content]) =>
        html`<span class="run-brief-item">${renderIcon(icon)}<span class="unseen">${label} </span>${content}</span> `,
    )}</span>${run.message ? html`<q class="run-message foreign">${run.message}</q>` : null}`;
}

type Reason = NonNullable<ReturnType<typeof explainReason>>;

const cancelingAdvice = 'Its worker is stopping. If it does not stop, you can force cancel the run after 30 seconds.';

/** Says that the run is partial, which its status does not say. */
export function renderPartial({ options }: ShownRun): Html | null {
  const partial = describePartial(options);
  if (partial === null) return null;
  const advice = 'Its success says nothing about the rest. Run it again without these options to see the whole.';
  return html`<div class="notice notice-wait">${renderIcon('triangle-alert')}<p><strong class="foreign">${partial}</strong> ${advice}</p></div>`;
}

/** Says that the run switches the tool of its instance, and changes nothing else. */
export function renderToolSwitch({ tool_switch: tool, status }: ShownRun): Html | null {
  if (tool === null) return null;
  const what =
    status === 'succeeded'
      ? 'It planned the last deployment with that tool and found no changes. The next runs of the instance use that tool.'
      : 'It plans the last deployment with that tool, and applies nothing. If the plan changes anything, the run fails, and the instance keeps its tool.';
  return html`<div class="notice">${renderIcon('refresh-cw')}<p><strong>This run switches the instance to ${describeTool(tool)}.</strong> ${what}</p></div>`;
}

/** What the reader should know first: why the run waits, or why it did not succeed, and what can be done about it. */
export function renderSituation(run: ShownRun, events: readonly ShownEvent[]): Html | null {
  if (run.deleted_at !== null)
    return notice(
      'info',
      html`<strong>This run was deleted.</strong> Its log, plan and comments are gone. Its reviews and events stay.`,
    );
  const waiting = describeWaiting(run);
  if (waiting) return renderWait(run, waiting, events);
  const reason = explainReason(run.status_reason);
  if (!reason) return null;
  if (run.status_reason === 'rejected') return renderRejection(run, reason);
  if (run.status_detail !== null) return renderFailure(run, run.status_detail, reason);
  return notice(
    run.status === 'canceled' || run.status === 'canceling' ? 'info' : 'octagon-x',
    html`<strong>${reason.why}</strong> ${run.cancel_reason ? html`<q class="foreign">${run.cancel_reason}</q> ` : null}${run.status === 'canceling' ? cancelingAdvice : reason.advice}`,
  );
}

/** Who rejected the plan, and what they said. */
function renderRejection({ approval, plan }: ShownRun, reason: Reason): Html {
  const review = approval.reviews.find(
    ({ decision, plan_digest: digest }) => decision === 'reject' && digest === plan?.digest,
  );
  const who = review ? html`<span class="foreign">${review.by.name}</span> rejected the plan.` : reason.why;
  const comment = review?.comment ? html` <q class="foreign">${review.comment}</q>` : null;
  return notice('info', html`<strong>${who}</strong>${comment} ${reason.advice}`);
}

/** Shows the error first, in the words of its reporter, and then what people usually do about it. */
function renderFailure({ id, started_at: start }: ShownRun, detail: ShownDetail, reason: Reason): Html {
  const log = start === null ? null : html` <a href="${runTabPath(id, 'log')}">Open the log</a>`;
  return html`<div class="notice notice-problem">${renderIcon('octagon-x')}<div class="stack">${renderStatusDetail(detail)}
<p class="muted">${reason.why} ${reason.advice}${log}</p></div></div>`;
}

/** What a visitor would need to cancel the run. Null if the visitor may cancel it, or if a rule forbids it. */
function renderWhoCancels({ actions }: ShownRun): Html | null {
  const reason = actions.find(({ name }) => name === 'cancel')?.reason ?? '';
  if (!isDenial(reason)) return null;
  const words = explainDenial(reason).replace(/^permission denied: this needs/, 'you cannot cancel it: that takes');
  return html` <span class="muted">${toSentence(words)}</span>`;
}

function renderWait(
  run: ShownRun,
  words: NonNullable<ReturnType<typeof describeWaiting>>,
  events: readonly ShownEvent[],
) {
  const { id, status, waiting_on: waiting } = run;
  const review = status === 'pending_approval' && waiting?.code === 'approval';
  const isReviewer = review && mayApprove(run);
  const toPlan = (look: string) =>
    html`<a${look ? html` class="${look}"` : null} href="${runTabPath(id, 'plan')}#plan">Review the plan</a>`;
  return notice(
    review ? 'hand' : 'clock',
    html`<strong>${words.what}</strong> ${review ? html`${renderAsked(run, events)} ` : null}${isReviewer ? html`${toPlan('button button-small button-primary')} ` : words.who} ${
      waiting ? html`<span class="muted">It has waited ${renderSince(waiting.since)}.</span>` : null
    }${words.blocker ? html` <a href="${words.blocker.path}">${words.blocker.label}</a>` : null}${
      review && !isReviewer ? html` ${toPlan('')}` : null
    }${renderWhoCancels(run)}`,
  );
}

function notice(icon: 'info' | 'hand' | 'clock' | 'octagon-x', content: Html): Html {
  const tone = { info: '', hand: ' notice-wait', clock: ' notice-wait', 'octagon-x': ' notice-problem' }[icon];
  return html`<div class="notice${tone}">${renderIcon(icon)}<p>${content}</p></div>`;
}
