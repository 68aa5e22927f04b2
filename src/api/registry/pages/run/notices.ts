import { describePolicy } from '#api/environments/pages/labels.ts';
import { listAllRuns } from '#api/runs/lists/list-operations.ts';
import { renderIcon } from '#api/web/components/icon.ts';
import { renderRunLink } from '#api/web/components/links/resource-links.ts';
import { renderRunStatus } from '#api/web/components/status.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { TemplateSpec } from '#domain/registry/spec.ts';
import { policyOfRun } from '#domain/runs/admission/build-run.ts';
import { readSettings } from '#domain/settings/store.ts';
import type { ApprovalPolicy } from '#domain/shared/vocabulary/approval.ts';
import { isTerminal, runStatuses } from '#domain/shared/vocabulary/runs.ts';
import type { NotDeployed, UndoneRun } from './deployed.ts';

/** Says why a form does not start from the deployment that the address names, and what fills it in instead. */
export function renderNotDeployed(start: NotDeployed, undone: UndoneRun | null): Html {
  const isFilledIn = start.last !== null;
  return html`<div class="notice${isFilledIn ? '' : ' notice-wait'}">${renderIcon(isFilledIn ? 'info' : 'triangle-alert')}<div class="stack"><p>${explain(start)}</p>${
    isFilledIn && undone
      ? html`<p>Where ${renderRunLink(undone.run_id)} changed a value, the form has the one before it.</p>`
      : null
  }</div></div>`;
}

function explain({ instance, isNew, destroyedBy, last }: NotDeployed): Html {
  if (!instance)
    return html`The instance doesn't exist any more, or you may not have access to it, so this form is not filled in with its values.`;
  const link = html`<a class="foreign" href="${pagePath(pages.instance, { id: instance.id })}">${instance.name}</a>`;
  if (isNew) return html`No run has deployed ${link} successfully yet, so this form is not filled in with values.`;
  if (!destroyedBy)
    return html`The values with which ${link} is deployed are not kept, or belong to another template, so this form is not filled in with them.`;
  const destroyed = html`${link} was destroyed by ${renderRunLink(destroyedBy)}`;
  return last
    ? html`${destroyed}. Filled in from its last deployment, ${renderRunLink(last.id)}: version ${last.template_version}. Nothing starts until you press Run.`
    : html`${destroyed}. The values of its last deployment are no longer kept, so this form is not filled in with them.`;
}

/** The approval of a run outside any environment. */
export interface ApprovalWithoutEnvironment {
  readonly policy: ApprovalPolicy;
  /** Whether the template demands it. Otherwise, it is the default of the installation. */
  readonly isOfTemplate: boolean;
}

/** Reads the approval that admission demands for a run of this version outside of any environment. */
export async function readApprovalWithoutEnvironment(
  { em }: Visit,
  { approval }: { readonly approval?: unknown },
): Promise<ApprovalWithoutEnvironment> {
  const spec = { approval: approval as TemplateSpec['approval'] };
  const { document } = await readSettings(em);
  return { policy: policyOfRun(spec, null, document), isOfTemplate: approval !== undefined };
}

/** Says what a run without an environment lacks, so that nobody chooses it by accident. Null if the run has an environment. */
export function renderNoEnvironment({
  approvalWithoutEnvironment,
}: {
  readonly approvalWithoutEnvironment: ApprovalWithoutEnvironment | null;
}): Html | null {
  if (!approvalWithoutEnvironment) return null;
  const { policy, isOfTemplate } = approvalWithoutEnvironment;
  const whose = isOfTemplate ? 'the template demands' : 'the installation demands by default';
  return html`<p><strong>This run is outside any environment.</strong> It gets no variables, secrets or connections of an environment, and no approval that an environment demands. Only what ${whose} applies: ${describePolicy(policy)}</p>`;
}

/** Unfinished runs of an instance. They may change it before the form's run does. */
export interface UnfinishedRuns {
  readonly instance: string;
  readonly runs: Awaited<ReturnType<typeof readRuns>>;
  readonly hasMore: boolean;
}

const maxShown = 5;
const unfinished = runStatuses.filter((status) => !isTerminal(status));
const changing = ['apply', 'destroy', 'refresh'];

/** Reads them. Null if there are none, or if the visitor may not read them. */
export async function readUnfinished(
  visit: Visit,
  instance: { readonly id: string; readonly name: string } | null,
): Promise<UnfinishedRuns | null> {
  if (!instance || !visit.mayDo(listAllRuns).allowed) return null;
  const runs = await readRuns(visit, instance.id);
  if (runs.length === 0) return null;
  return { instance: instance.name, runs: runs.slice(0, maxShown), hasMore: runs.length > maxShown };
}

async function readRuns(visit: Visit, id: string) {
  const query = { instance_id: id, status: unfinished, limit: '50' };
  const { runs } = await visit.read(listAllRuns, { params: {}, query });
  return runs.filter(({ operation }) => changing.includes(operation));
}

export function renderUnfinished(found: UnfinishedRuns | null): Html | null {
  if (!found) return null;
  const { instance, runs, hasMore } = found;
  const name = html`<span class="foreign">${instance}</span>`;
  const rows = runs.map((run) => html`<li>${renderRunLink(run.id)}: ${run.operation} ${renderRunStatus(run)}</li>`);
  const what =
    runs.length === 1
      ? html`A run of ${name} is not finished. It may change what is deployed before the run of this form does.`
      : html`Runs of ${name} are not finished. They may change what is deployed before the run of this form does.`;
  return html`<div class="notice notice-wait">${renderIcon('triangle-alert')}<div class="stack"><p>${what}</p><ul>${rows}${hasMore ? html`<li>and more</li>` : null}</ul></div></div>`;
}
