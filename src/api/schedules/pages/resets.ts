import { inheritedBy } from '#api/environments/pages/inherited.ts';
import type { Difference } from '#api/registry/pages/run/compared.ts';
import { type DeployedFacts, readReplaced } from '#api/registry/pages/run/deployed.ts';
import { findDifferences } from '#api/registry/pages/run/differences.ts';
import { schemaOf } from '#api/registry/pages/version/variables-table.ts';
import { get as getTemplate } from '#api/registry/template-operations.ts';
import { renderIcon } from '#api/web/components/icon.ts';
import { renderRunLink } from '#api/web/components/links/resource-links.ts';
import { planForm } from '#api/web/forms/schema/plan/plan.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { pluralize } from '#api/web/text.ts';
import { orNull } from '#api/web/visit/or-null.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { ScheduleSubject } from './schedule-view.ts';
import { readInheritedOf, readVersion } from './work-schema.ts';

/** The parts of a schedule's work that decide which variables a start resets. */
interface ResettingWork {
  readonly template_id: string;
  readonly environment_id?: string | null;
  readonly version?: string | null;
  readonly instance?: string | null;
  readonly operation: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly variables_from?: string | null;
}

interface Resets {
  readonly deployed: DeployedFacts;
  /** The deployed variables that a start would lose now, because the work does not set them. */
  readonly lost: readonly Difference[];
  /** The required deployed variables that the work does not set, and that nothing else provides. */
  readonly missing: readonly Difference[];
}

/** Null: no instance with this name is deployed, or the visitor may not know it. */
async function findResets(visit: Visit, work: ResettingWork): Promise<Resets | null> {
  const { template_id: id, environment_id, version: wanted, instance, operation } = work;
  if (operation === 'destroy') return null;
  const template = await orNull(visit.read(getTemplate, { params: { id } }));
  if (!template) return null;
  const environmentId = environment_id ?? '';
  const [deployed, version, inherited] = await Promise.all([
    readReplaced(visit, { templateId: id, environmentId, name: instance || template.slug }),
    readVersion(visit, id, wanted || 'latest'),
    readInheritedOf(visit, environmentId),
  ]);
  if (!deployed || !version) return null;
  // A refresh does not deploy variables.
  if (work.variables_from === 'deployed' || operation === 'refresh') return { deployed, lost: [], missing: [] };
  const schema = schemaOf(version.spec);
  const given = inheritedBy(inherited, schema);
  const facts = { root: planForm(schema), inherited: given, version, deployed: null, source: null };
  const values = work.variables as Readonly<Record<string, JsonValue>>;
  const differences = findDifferences(facts, deployed, { values, omitted: [] });
  // A required variable without a value is missing rather than lost: the operation refuses the start, so nothing is reset.
  const isLost = ({ kind }: Difference) => kind === 'emptied' || kind === 'dropped';
  const isMissing = ({ kind }: Difference) => kind === 'missing' || kind === 'asked';
  return { deployed, lost: differences.filter(isLost), missing: differences.filter(isMissing) };
}

const field = 'work.run.variables_from';

/** Requires a decision about deployed variables that the work does not set. Without one, adds a problem to the visit. */
export async function refuseSilentResets(visit: Visit, work: ResettingWork, choice: string): Promise<void> {
  if (choice === 'defaults') return;
  const resets = await findResets(visit, work);
  if (choice === 'deployed' && !resets && work.operation !== 'destroy')
    visit.addProblem(field, 'nothing is deployed there yet by this template: choose the defaults');
  if (choice === '' && resets && resets.lost.length + resets.missing.length > 0) {
    const namesOf = (differences: readonly Difference[]) => differences.map(({ variable }) => variable).join(', ');
    const lost = resets.lost.length > 0 && `each start would reset ${namesOf(resets.lost)}`;
    const missing = resets.missing.length > 0 && `only what is deployed gives ${namesOf(resets.missing)}`;
    const consequences = [lost, missing].filter(Boolean).join(', and ');
    visit.addProblem(
      field,
      `the instance ${resets.deployed.instance.name} is deployed there already, and ${consequences}: choose whether to keep what is deployed`,
    );
  }
}

/** The variables that the next run of a schedule would reset; null if there are none. */
export async function renderResets(visit: Visit, { id, work }: ScheduleSubject): Promise<Html | null> {
  const resets = 'run' in work ? await findResets(visit, work.run) : null;
  if (!resets || resets.lost.length === 0) return null;
  const rows = resets.lost.map(({ variable, before }) => {
    const was = before === null ? null : html`: <code class="foreign">${before}</code> is deployed`;
    return html`<li><code class="foreign">${variable}</code>${was}</li>`;
  });
  return html`<div class="notice">${renderIcon('triangle-alert')}<div class="stack"><p>The next run resets ${pluralize(resets.lost.length, 'variable')} of what ${renderRunLink(resets.deployed.run.id)} has deployed. To keep them, <a href="${pagePath(pages.editScheduledWork, { id })}">change the work</a>.</p><ul>${rows}</ul></div></div>`;
}
