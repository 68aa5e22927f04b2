import { readOwnerNames, renderOwner } from '#api/tenancy/pages/owner-link.ts';
import { categoryWords } from '#api/variables/pages/table.ts';
import { type Column, renderTable } from '#api/web/components/table.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { Names } from '#domain/tenancy/names.ts';
import { type GivingSet, readGivingSets } from '#domain/variable-sets/attached-sets-store.ts';
import { findGivenNames, type GivenName } from '#domain/variables/given-names.ts';
import { setPath } from './labels.ts';

/** The maximum number of sets on a page, and of variables of each. */
const maxSets = 50;
const maxNames = 20;

/** The sets that provide variables for an environment, by precedence, with the variables that take effect. */
export async function renderSetsOfEnvironment(visit: Visit, { id }: { readonly id: string }): Promise<Html | null> {
  const { sets, names, isCut } = await readSets(visit, { environmentId: id });
  if (sets.length === 0) return null;
  const given = await findGivenNames(visit.em, id);
  const columns: Column<GivingSet>[] = [
    ...commonColumns(names),
    { label: 'Attached to', cell: ({ attachedTo }) => (attachedTo === 'project' ? 'the project' : 'this environment') },
    { label: 'Variables', cell: (set) => renderGiven(given.filter(({ from }) => from.id === set.id)) },
  ];
  return html`<h2>From variable sets</h2>
<p class="muted">The environment's own variables override all of these, and each set overrides the sets below it.</p>
<div class="list-panel">${renderTable({ caption: 'Variable sets, in order of precedence', rows: sets, columns })}</div>
${isCut ? html`<p><a href="${pagePath(pages.variableSets, {}, { environment_id: id })}">All attached sets</a></p>` : null}`;
}

/** The sets that are attached to a project, by precedence. */
export async function renderSetsOfProject(visit: Visit, { id }: { readonly id: string }): Promise<Html | null> {
  const { sets, names, isCut } = await readSets(visit, { projectId: id });
  if (sets.length === 0) return null;
  const columns: Column<GivingSet>[] = [
    ...commonColumns(names),
    { label: 'Variables', kind: 'number', cell: ({ variables }) => String(variables) },
  ];
  return html`<h2>Variable sets</h2>
<p class="muted">All environments of the project get these variables. Each set overrides the sets below it. The variables of an environment, and of sets attached to it, override all of these.</p>
<div class="list-panel">${renderTable({ caption: 'Variable sets, in order of precedence', rows: sets, columns })}</div>
${isCut ? html`<p class="muted">There are more.</p>` : null}`;
}

async function readSets(visit: Visit, place: { environmentId: string } | { projectId: string }) {
  const found = await readGivingSets(visit.em, place, maxSets + 1);
  const sets = found.slice(0, maxSets);
  return { sets, isCut: found.length > sets.length, names: await readOwnerNames(visit, sets.map(ownerOf)) };
}

function ownerOf({ organizationId = null, teamId = null, projectId = null }: GivingSet) {
  return { organization_id: organizationId, team_id: teamId, project_id: projectId };
}

function commonColumns(names: Names): Column<GivingSet>[] {
  return [
    { label: 'Name', kind: 'main', cell: (set) => html`<a class="foreign" href="${setPath(set)}">${set.name}</a>` },
    { label: 'Owner', cell: (set) => renderOwner(ownerOf(set), names) },
  ];
}

function renderGiven(given: readonly GivenName[]): Html {
  if (given.length === 0) return html`<span class="muted">it has no variables</span>`;
  const more = given.length - maxNames;
  return html`<ul class="plain-list" role="list">${given
    .slice(0, maxNames)
    .map(
      (each) =>
        html`<li><span class="mono">${each.name}</span> <span class="muted">${categoryWords[each.category]}${renderWinner(each)}</span></li>`,
    )}${more > 0 ? html`<li class="muted">and ${more} more</li>` : null}</ul>`;
}

/** The source that overrides a variable; null if the variable takes effect. */
function renderWinner({ winner }: GivenName): Html | null {
  if (winner === null) return null;
  const by = winner.kind === 'environment' ? 'the environment' : html`<span class="foreign">${winner.name}</span>`;
  return html`, overridden by ${by}`;
}
