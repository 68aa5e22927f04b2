import { get as getEnvironment } from '#api/environments/operations.ts';
import { readInherited } from '#api/environments/pages/inherited.ts';
import type { InstanceVisit } from '#api/environments/pages/instance-table.ts';
import { describePolicy } from '#api/environments/pages/labels.ts';
import type { EncodedAnswerOf } from '#api/pipeline/answers/answer-types.ts';
import { supports } from '#api/registry/pages/destroy-steps.ts';
import { schemaOf } from '#api/registry/pages/version/variables-table.ts';
import { get as getTemplate } from '#api/registry/template-operations.ts';
import { get as getVersion, list as listVersions } from '#api/registry/version-operations.ts';
import type { getRun } from '#api/runs/operations.ts';
import { list as listSchedules } from '#api/schedules/operations.ts';
import { type ListedSchedule, schedulePath } from '#api/schedules/pages/schedule-view.ts';
import { planForm } from '#api/web/forms/schema/plan/plan.ts';
import { slots } from '#api/web/forms/schema/slots.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { orNull } from '#api/web/visit/or-null.ts';
import { policyOfRun } from '#domain/runs/admission/build-run.ts';
import { needsApproval } from '#domain/runs/model.ts';
import { readSettings } from '#domain/settings/store.ts';
import { describeSchedule } from '#domain/shared/schedules/describe-schedule.ts';
import type { ApprovalPolicy } from '#domain/shared/vocabulary/approval.ts';

/** Facts that decide how a destroy runs, and what may undo it: the environment, its approval, and the schedules for the instance. */
export interface DestroyFacts {
  readonly environment: { readonly id: string; readonly name: string } | null;
  /** The policy that admission would apply to the destroy; null if unknown. */
  readonly approval: ApprovalPolicy | null;
  readonly schedules: readonly ListedSchedule[];
  /**
   * The version that a destroy would run by default, if it has no destroy steps, and the versions that have some, newest first. Null if no
   * choice is needed.
   */
  readonly unable: { readonly version: string; readonly able: readonly string[] } | null;
  /**
   * The variables that a destroy needs and that nothing provides: neither the deployment, nor a default, the environment or a variable set.
   */
  readonly missing: readonly string[];
}

interface Destroyed {
  readonly name: string;
  readonly template_id: string;
  readonly environment_id: string | null;
  /** The run that deployed it. */
  readonly deployed: EncodedAnswerOf<(typeof getRun)['responses']> | null;
}

export async function readDestroyFacts(visit: InstanceVisit, destroyed: Destroyed): Promise<DestroyFacts> {
  const { environment_id: id, template_id: templateId, deployed } = destroyed;
  const version = deployed?.template_version ?? 'latest';
  const [environment, published, settings, schedules] = await Promise.all([
    id === null ? null : orNull(visit.read(getEnvironment, { params: { id } })),
    orNull(visit.read(getVersion, { params: { id: templateId, version } })),
    readSettings(visit.em),
    readSchedules(visit, destroyed),
  ]);
  const isKnown = published !== null && (id === null || environment !== null);
  const approval = isKnown
    ? policyOfRun(published.spec, environment?.approval_policy ?? null, settings.document)
    : null;
  const unable = published && !supports(published.spec, 'destroy') ? published.version : null;
  const able = unable === null ? [] : await readAble(visit, templateId);
  const missing = deployed || !published ? [] : await findMissing(visit, published.spec, id);
  return { environment, approval, schedules, unable: unable === null ? null : { version: unable, able }, missing };
}

/** The variables that somebody must enter for a run of a version in an environment. */
async function findMissing(
  visit: InstanceVisit,
  spec: Readonly<Record<string, unknown>>,
  environmentId: string | null,
): Promise<string[]> {
  const inherited = environmentId === null ? null : await readInherited(visit, environmentId);
  return planForm(schemaOf(spec))
    .members.filter(({ isRequired, default: value }) => isRequired && value === undefined)
    .map(({ name }) => name)
    .filter((name) => !inherited?.has(slots.member('', name)));
}

/** Those of the newest versions that can destroy. */
async function readAble(visit: InstanceVisit, id: string): Promise<string[]> {
  const { versions } = await visit.read(listVersions, { params: { id }, query: { limit: '20' } });
  const names = versions.filter(({ yanked_at: yanked }) => yanked === null).map(({ version }) => version);
  const read = await Promise.all(names.map((version) => visit.read(getVersion, { params: { id, version } })));
  return read.filter(({ spec }) => supports(spec, 'destroy')).map(({ version }) => version);
}

/** The schedules that are not paused and start runs of the instance, or of the assembly whose run deployed it. */
async function readSchedules(visit: InstanceVisit, destroyed: Destroyed): Promise<ListedSchedule[]> {
  if (!visit.mayDo(listSchedules).allowed) return [];
  const { environment_id: environment, template_id: template, deployed, name } = destroyed;
  const place = { enabled: 'true', limit: '200', ...(environment !== null && { environment_id: environment }) };
  const assembly = deployed?.assembly_node?.assembly_id;
  const [known, runs, assemblyRuns] = await Promise.all([
    orNull(visit.read(getTemplate, { params: { id: template } })),
    visit.read(listSchedules, { query: { ...place, template_id: template } }),
    assembly ? visit.read(listSchedules, { query: { ...place, assembly_id: assembly } }) : { schedules: [] },
  ]);
  const isOfInstance = ({ work }: ListedSchedule) =>
    'run' in work && work.run.environment_id === environment && (work.run.instance ?? known?.slug) === name;
  return [...runs.schedules.filter(isOfInstance), ...assemblyRuns.schedules];
}

export function renderDestroyFacts({ environment, approval, schedules }: DestroyFacts, isPlaced: boolean): Html {
  const where = environment
    ? html`It is deployed in the environment <a class="foreign" href="${pagePath(pages.environment, { id: environment.id })}">${environment.name}</a>.`
    : isPlaced
      ? null
      : 'It is deployed outside any environment.';
  return html`<p>${where} A plan is made first. ${describeApproval(approval)}</p>${renderSchedules(schedules)}`;
}

function describeApproval(policy: ApprovalPolicy | null): string | Html {
  if (!policy) return 'Where the environment or the template requires no approval, it is carried out at once.';
  return needsApproval(policy, { changes: true, destroys: true })
    ? html`<strong>This destroy needs approval.</strong> ${describePolicy(policy)}`
    : html`<strong>This destroy needs no approval:</strong> it is carried out as soon as it is planned.`;
}

function renderSchedules(schedules: readonly ListedSchedule[]): Html | null {
  if (schedules.length === 0) return null;
  const items = schedules.map(({ id, name, work, schedule }) => {
    const { operation } = 'run' in work ? work.run : work.assembly_run;
    return html`<li><a class="foreign" href="${schedulePath({ id })}">${name}</a>: ${operation}, ${describeSchedule(schedule)}</li>`;
  });
  return html`<p>These schedules start work on it, also after the destroy. An apply deploys it again:</p><ul>${items}</ul>`;
}
